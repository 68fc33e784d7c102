"""The assignors, each at its address in aiokafka."""
