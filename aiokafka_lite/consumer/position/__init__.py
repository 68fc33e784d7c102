"""Where to read next: the subscription, its positions, and the offsets asked from leaders."""
