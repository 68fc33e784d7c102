"""The state of a partition's log."""
