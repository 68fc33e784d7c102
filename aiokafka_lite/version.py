"""The version number. The build reads it, and clients send it to brokers (KIP-511)."""

__version__ = "0.1.0"
