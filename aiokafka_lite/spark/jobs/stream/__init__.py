"""What jobs that run as streams share: their keys, their targets, and how they run and stop."""
