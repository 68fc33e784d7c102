"""Calls about the cluster and its nodes."""
