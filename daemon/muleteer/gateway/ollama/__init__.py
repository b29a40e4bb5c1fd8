"""`/api/...`, as Ollama's clients know it, Home Assistant among them."""
