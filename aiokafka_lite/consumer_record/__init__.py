"""The record that consumers return, and its native twin."""
