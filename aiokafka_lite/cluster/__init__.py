"""Knowing a cluster: its metadata, its nodes, one connection per node and lane, one client."""
