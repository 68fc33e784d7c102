"""Membership by the consumer rebalance protocol, in which the coordinator assigns (KIP-848)."""
