"""The ways in which models write tool calls into text: prose and calls out of one stream. Pure."""
