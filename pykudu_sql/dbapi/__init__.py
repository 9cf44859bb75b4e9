"""PEP 249: connections, cursors, type objects and errors."""
