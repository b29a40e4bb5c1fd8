"""The driver's seat: one device runs the household's background work, whatever breaks."""
