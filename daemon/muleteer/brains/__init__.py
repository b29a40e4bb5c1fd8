"""Brains elsewhere: servers that speak OpenAI's chat completions, and which brain may answer what."""
