"""The consumer as a member of a group: joining, heartbeats, rebalances, committed offsets."""
