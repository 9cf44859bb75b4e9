"""What the embedded engine reads: tables, streams that tell their size, rows that are replaced."""
