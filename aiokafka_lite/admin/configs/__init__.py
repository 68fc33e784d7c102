"""Calls about configurations."""
