"""F1, records that survive a crash: framing, write-ahead log, manifest."""
