"""Which devices are on the network, and what of this one is announced there."""
