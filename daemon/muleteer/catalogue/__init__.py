"""What there is to do: skills and tools from disk, packages and servers; what the user wants of them."""
