"""The queues of batches, and what may be appended or sent."""
