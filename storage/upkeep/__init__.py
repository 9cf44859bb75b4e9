"""Maintenance on demand, introspection and counters. Uses `maintenance`, `commit` and `tablet`."""
