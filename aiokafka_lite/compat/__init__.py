"""Runs programs and libraries that import `aiokafka` on this package; see `installation`."""

from aiokafka_lite.compat.installation import install

__all__ = ["install"]
