"""The options of source and sink."""
