"""`/v1/chat/completions` and `/v1/models`, as OpenAI's clients know them."""
