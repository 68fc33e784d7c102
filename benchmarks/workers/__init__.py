"""The benchmark of keyed workers beside loops written by hand."""
