"""Batteries: cases whose right answer is known, run on both paths of one model. See `running.py`."""
