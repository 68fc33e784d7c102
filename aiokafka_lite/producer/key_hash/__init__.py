"""The hash that chooses the partition of a keyed record."""
