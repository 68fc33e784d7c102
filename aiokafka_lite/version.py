"""The one place of the version number; read by the build and sent to brokers (KIP-511)."""

__version__ = "0.1.0"
