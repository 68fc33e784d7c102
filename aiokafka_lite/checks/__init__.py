"""Checks of values that users pass; clients, Spark and the embedded broker share them."""
