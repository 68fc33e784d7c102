"""One node's share session: its epoch, and the partitions the node knows.

A request of an open session says only which partitions come and go. Does not wait. Source: KIP-932,
ShareSessionHandler.
"""

from collections.abc import Collection
from typing import Final, NamedTuple
from uuid import UUID

TopicIdPartition = tuple[UUID, int]

FINAL_EPOCH: Final = -1
_NEW_EPOCH: Final = 0
_LAST_EPOCH: Final = 2**31 - 1


class SessionChange(NamedTuple):
    """What the next fetch of a session says about it."""

    epoch: int
    added: Collection[TopicIdPartition]
    forgotten: Collection[TopicIdPartition]


class ShareSession:
    """The session of one node. At most one request is on its way."""

    def __init__(self) -> None:
        self.epoch = _NEW_EPOCH
        """The epoch of the next request."""
        self.partitions: frozenset[TopicIdPartition] = frozenset()
        """What the node fetches for this session."""

    @property
    def is_open(self) -> bool:
        """Whether the node knows the session, as far as the client knows."""
        return self.epoch != _NEW_EPOCH

    def change_to(self, wanted: Collection[TopicIdPartition]) -> SessionChange:
        """Return what to tell the node so that it fetches `wanted`, and take it as told."""
        before, self.partitions = self.partitions, frozenset(wanted)
        return SessionChange(
            self.epoch, sorted(self.partitions - before), sorted(before - self.partitions)
        )

    def answered(self) -> None:
        """Note that the node has taken a request."""
        self.epoch = 1 if self.epoch == _LAST_EPOCH else self.epoch + 1

    def reset(self) -> None:
        """Open a new session with the next request."""
        self.epoch = _NEW_EPOCH
        self.partitions = frozenset()


__all__ = ["FINAL_EPOCH", "SessionChange", "ShareSession", "TopicIdPartition"]
