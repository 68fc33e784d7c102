"""Transactions: their state, their requests, and what ends them."""
