"""Assignors and their protocol, at the addresses where aiokafka's users import them."""
