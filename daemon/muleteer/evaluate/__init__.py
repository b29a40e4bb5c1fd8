"""Measuring Muleteer: the benchmark against another server. Nothing here runs in the daemon."""
