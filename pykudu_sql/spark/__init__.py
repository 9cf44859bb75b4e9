"""Spark over the tables of a database: a data source, its sessions, and jobs."""
