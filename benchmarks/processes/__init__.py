"""The processes of a measurement: the broker, and each client in a process of its own."""
