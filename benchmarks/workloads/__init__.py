"""What is measured: each module builds the races of one subject."""
