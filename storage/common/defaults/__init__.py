"""What rows get in the columns that an INSERT leaves out."""
