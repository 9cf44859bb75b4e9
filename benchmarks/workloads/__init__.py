"""What is measured, by room; each module builds the races of one subject."""
