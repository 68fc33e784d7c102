"""What the broker knows. Plain: nothing in here waits."""
