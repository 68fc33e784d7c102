"""Names the separate connections one client keeps to one node, so that slow talk never delays
urgent talk.
"""

from enum import Enum


class Lane(Enum):
    """Why a connection exists. Requests of one lane to one node share a connection, in order."""

    GENERAL = "general"
    """Metadata, produce, offsets: short questions with short answers."""

    FETCH = "fetch"
    """Long polls, which the broker may hold back for `fetch_max_wait_ms`."""

    COORDINATOR = "coordinator"
    """Group and transaction traffic; a heartbeat must not queue behind a long poll (F1)."""


__all__ = ["Lane"]
