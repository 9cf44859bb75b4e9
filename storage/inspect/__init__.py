"""What lies on disk, in lines for a person."""
