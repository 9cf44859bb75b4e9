"""Single rows by key and single commits, one statement a transaction."""
