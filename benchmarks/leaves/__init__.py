"""Parts of the clients without a network, timed in turn in one process."""
