"""What a database costs as it grows: bytes on disk, opening, ten times the rows, hours of work."""
