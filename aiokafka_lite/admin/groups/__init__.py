"""Calls about groups and their offsets."""
