"""Names of aiokafka's inside that libraries read all the same."""

from typing import Final

_missing: Final = "all"
"""The default of `acks`, which FastStream passes on where its user has chosen none."""

__all__ = ["_missing"]
