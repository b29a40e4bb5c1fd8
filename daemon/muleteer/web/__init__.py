"""Reading web pages: which addresses may be reached, fetching from them, and the text in what they send."""
