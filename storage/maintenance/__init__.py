"""Maintenance: what brings memory to disk, keeps files few and lets old history go, by itself."""
