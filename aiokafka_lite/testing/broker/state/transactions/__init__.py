"""The state of transactions."""
