"""SASL: the mechanisms by which a client proves to a node which user it is."""
