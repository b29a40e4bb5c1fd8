"""What may be set: sections of keys, where values come from, what is said of wrong ones (`config.py`)."""
