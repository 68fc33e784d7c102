"""The way of records from the user's hands into a batch."""
