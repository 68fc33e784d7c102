"""Calls about partitions: offsets, leaders, replicas, log directories."""
