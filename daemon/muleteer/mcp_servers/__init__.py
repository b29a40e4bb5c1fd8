"""Tools of MCP servers that the user has named: taken in like any other, watched, and never trusted.

`definitions` makes tools of what a server says it has, `answers` results of what it replies, `stdio` and
`http` carry messages, `sieve` looks at them first, `server` is the life of one
server, `service` that of all of them.
"""
