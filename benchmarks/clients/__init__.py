"""Whole clients side by side: what they cost, how fast they answer, and how costs grow."""
