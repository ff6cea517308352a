"""One session's state, in one slot: its port, in memory and on Redis."""
