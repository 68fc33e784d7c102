"""Rows of Arrow tables on their way into batches."""
