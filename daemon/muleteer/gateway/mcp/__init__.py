"""The MCP server: what other agents may use of this device, over the socket and the network."""
