"""`GET /openapi.json`: every path, what it takes and what it answers, as OpenAPI 3.1."""
