"""Looking a device over: what could keep Muleteer from working here, and what to do about it."""
