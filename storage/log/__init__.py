"""Records that survive a crash: framing, write-ahead log, manifest."""
