"""What a client observes of its own work, and what it tells of that."""
