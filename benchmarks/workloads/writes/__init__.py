"""Writes of many rows, what they leave behind, and its compaction."""
