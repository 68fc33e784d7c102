"""Owns workers over share groups: `ShareWorkers`."""
