"""Who in a group reads which partition: decided by the group's leader, from plain values."""
