"""Changes and descriptions of a cluster's topics."""
