"""What outlives the daemon: one SQLite file, in WAL mode, written before anything is acknowledged."""
