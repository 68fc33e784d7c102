"""TLS of connections: contexts from options, and what went wrong in a handshake."""
