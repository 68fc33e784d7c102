"""One connection to one node."""
