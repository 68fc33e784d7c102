"""Benchmarks: `python -m benchmarks.clients` for whole clients, `python -m benchmarks.groups` for
groups, `python -m benchmarks.leaf_records` for the leaves.
"""
