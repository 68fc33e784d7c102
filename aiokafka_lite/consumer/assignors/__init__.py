"""The assignors, by which the leader of a group assigns partitions to members. Does not wait."""
