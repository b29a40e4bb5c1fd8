"""The three-level harness: one turn from message to answer, on any brain, without I/O of its own."""
