"""Tablets on one machine: columnar, multi-versioned storage after Apache Kudu. Knows no SQL."""
