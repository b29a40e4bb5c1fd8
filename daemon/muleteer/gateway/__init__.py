"""The daemon's side of every client: sockets, requests, turns as event streams, one shape of error."""
