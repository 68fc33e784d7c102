"""Committed offsets of a group."""
