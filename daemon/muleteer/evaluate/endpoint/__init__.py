"""Our chat completions against those of llama.cpp's own server: the same file, the same caller's tools."""
