"""Java's security properties, as options of the client."""
