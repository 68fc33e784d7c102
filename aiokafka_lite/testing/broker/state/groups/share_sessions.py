"""The share sessions of one node: which partitions a member reads, and the epoch of its requests.

A session ends with the connection that has opened it. Does not wait. Source: ShareSessionCache,
SharePartitionManager.newContext; KIP-932.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from aiokafka_lite.errors import (
    InvalidShareSessionEpochError,
    ShareSessionLimitReachedError,
    ShareSessionNotFoundError,
)

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_MAX_EPOCH = 2**31 - 1


class SharedPartition(NamedTuple):
    """A partition of a session, by the id of its topic."""

    topic_id: UUID
    partition: int


@dataclass(eq=False, slots=True)
class BrokerShareSession:
    """What a member need not repeat with each request."""

    group_id: str
    member_id: str
    connection: object
    epoch: int = 1
    """The epoch of the next request."""
    partitions: dict[SharedPartition, bool] = field(default_factory=dict)
    """Partition -> whether its topic existed when it was added."""

    def update(
        self,
        wanted: Iterable[tuple[SharedPartition, bool]],
        forgotten: Iterable[SharedPartition] = (),
    ) -> None:
        """Add partitions, each with whether its topic exists, and take others out."""
        for where, is_known in wanted:
            self.partitions.setdefault(where, is_known)
        for where in forgotten:
            self.partitions.pop(where, None)

    def rotated(self, epoch: int) -> list[SharedPartition]:
        """Return the partitions in an order that lets each be the first one in its turn."""
        found = [*self.partitions]
        at = epoch % len(found) if found else 0
        return found[at:] + found[:at]


class ShareSessionCache:
    """The sessions, by group and member."""

    def __init__(self, slots: int = 2000) -> None:
        self._slots = slots
        self._sessions: dict[tuple[str, str], BrokerShareSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, group_id: str, member_id: str, connection: object) -> BrokerShareSession:
        """Begin a session, which replaces the member's former one.

        Raises: ShareSessionLimitReachedError.
        """
        self._sessions.pop((group_id, member_id), None)
        if len(self._sessions) >= self._slots:
            raise ShareSessionLimitReachedError(
                f"this node has {self._slots} share sessions; close one, or raise "
                "group_share_max_share_sessions"
            )
        session = BrokerShareSession(group_id, member_id, connection)
        self._sessions[group_id, member_id] = session
        return session

    def resume(self, group_id: str, member_id: str, epoch: int) -> BrokerShareSession:
        """Return the session of a request, and count the request unless it is the last one.

        Raises: ShareSessionNotFoundError, InvalidShareSessionEpochError.
        """
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise ShareSessionNotFoundError(
                f"member {member_id!r} of group {group_id!r} has no share session here"
            )
        if epoch == FINAL_EPOCH:
            return session
        if epoch != session.epoch:
            raise InvalidShareSessionEpochError(
                f"the share session of {member_id!r} is at epoch {session.epoch}, the request "
                f"says {epoch}"
            )
        session.epoch = 1 if epoch == _MAX_EPOCH else epoch + 1
        return session

    def end(self, session: BrokerShareSession) -> None:
        """Forget a session. Its records are to be released."""
        self._sessions.pop((session.group_id, session.member_id), None)

    def of(
        self, *, connection: object = None, group_id: str | None = None
    ) -> Sequence[BrokerShareSession]:
        """Return the sessions of a connection, or of a group."""
        return [
            session
            for session in self._sessions.values()
            if (connection is not None and session.connection is connection)
            or (group_id is not None and session.group_id == group_id)
        ]

    def clear(self) -> None:
        """Drop every session, as a restarting node does."""
        self._sessions.clear()


__all__ = [
    "FINAL_EPOCH",
    "INITIAL_EPOCH",
    "BrokerShareSession",
    "ShareSessionCache",
    "SharedPartition",
]
