"""The sticky assignor, at its address in aiokafka."""
