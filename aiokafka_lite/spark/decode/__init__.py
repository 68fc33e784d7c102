"""Decoding values: Avro, JSON, schema registries, dead letters."""
