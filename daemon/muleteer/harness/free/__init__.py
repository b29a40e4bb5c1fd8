"""The three levels on a brain that writes freely: the same limits, kept by correcting, not by a grammar."""
