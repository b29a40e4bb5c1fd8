"""Muleteer drives a small language model in harness: a daemon for boards without internet."""

__version__ = "0.1.0"
