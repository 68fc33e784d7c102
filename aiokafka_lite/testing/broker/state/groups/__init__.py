"""The state of consumer groups."""
