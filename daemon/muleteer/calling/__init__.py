"""Running one call of a tool: in its own thread, with what it is lent, and checking what it returns."""
