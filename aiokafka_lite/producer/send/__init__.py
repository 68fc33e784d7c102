"""The way of batches to their brokers, and of the answers back."""
