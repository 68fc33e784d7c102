"""What the embedded broker does for security: TLS, the server's side of SASL, and ACLs."""
