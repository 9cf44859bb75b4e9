"""The data pipeline: load, export, backup, restore, changes. Its commands are in the shell."""
