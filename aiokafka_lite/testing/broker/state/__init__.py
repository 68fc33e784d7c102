"""The broker's state. Does not wait."""
