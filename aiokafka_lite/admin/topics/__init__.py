"""Calls about topics."""
