"""Muleteer as a service of systemd: its units, its timers, putting them in place and taking them away."""
