"""A member of a classic group, and the responses to its JoinGroup and SyncGroup, which may be late.

A handler passes a function that takes the response. Does not wait. Source: ClassicGroupMember.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

NO_GENERATION = -1
NO_MEMBER = ""
"""The member id of a member without one."""


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """The contents of a JoinGroup of any version."""

    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: Mapping[str, bytes]
    """Assignment strategy -> the member's metadata for it, the preferred one first."""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    client_id: str = ""
    client_host: str = ""
    """The address of the member's connection."""
    needs_known_member_id: bool = False
    """Whether a dynamic member first gets an id, and joins by its second request (KIP-394)."""
    may_skip_assignment: bool = False
    """Whether the member supports skip_assignment (KIP-814)."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """A member in the leader's response."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class JoinResult:
    """The response to a JoinGroup; `members` is for the leader only."""

    member_id: str
    error_code: int = 0
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = NO_MEMBER
    skip_assignment: bool = False
    members: Collection[JoinedMember] = ()


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The response to a SyncGroup."""

    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


AnswerJoin = Callable[[JoinResult], object]
AnswerSync = Callable[[SyncResult], object]


@dataclass(slots=True)
class GroupMember:
    """One member. A response that it waits for is given once, and then forgotten."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    protocol_type: str
    protocols: Mapping[str, bytes]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    client_host: str = ""
    assignment: bytes = b""
    is_new: bool = False
    """Whether it has never finished a rebalance. Its session then counts even while it waits."""
    _answer_join: AnswerJoin | None = field(default=None, repr=False)
    _answer_sync: AnswerSync | None = field(default=None, repr=False)

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_awaiting_join(self) -> bool:
        return self._answer_join is not None

    @property
    def is_awaiting_sync(self) -> bool:
        return self._answer_sync is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Whether the member, by waiting for the group, shows that it is alive."""
        return not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync)

    def matches(self, protocols: Mapping[str, bytes]) -> bool:
        """Return whether nothing has changed, not even the order of preference."""
        return list(self.protocols.items()) == list(protocols.items())

    def vote(self, candidates: Collection[str]) -> str:
        """Return the protocol that this member prefers among those all members support."""
        return next(name for name in self.protocols if name in candidates)

    def update(self, request: JoinRequest, answer: AnswerJoin | None) -> None:
        """Store the data of a rejoining member; `answer` will get the result.

        An earlier JoinGroup that still waits never gets a response: its client has given up on it.
        """
        self.protocols = request.protocols
        self.session_timeout_ms = request.session_timeout_ms
        self.rebalance_timeout_ms = request.rebalance_timeout_ms
        self._answer_join = answer

    def await_join(self, answer: AnswerJoin) -> None:
        """Give `answer` the result when the group has joined."""
        self._answer_join = answer

    def await_sync(self, answer: AnswerSync) -> None:
        """Give `answer` the assignment when the leader has sent it."""
        self._answer_sync = answer

    def answer_join(self, result: JoinResult) -> bool:
        """Answer the waiting JoinGroup; return whether one waited."""
        answer, self._answer_join = self._answer_join, None
        if answer is not None:
            answer(result)
        return answer is not None

    def answer_sync(self, result: SyncResult) -> bool:
        """Answer the waiting SyncGroup; return whether one waited."""
        answer, self._answer_sync = self._answer_sync, None
        if answer is not None:
            answer(result)
        return answer is not None

    def renamed(self, member_id: str) -> "GroupMember":
        """Return the same member under another id, without a waiting request."""
        return replace(
            self, member_id=member_id, is_new=False, _answer_join=None, _answer_sync=None
        )

    def persisted(self, protocol_name: str | None) -> "GroupMember":
        """Return what a log stores of the member; of its protocols, the one in use."""
        kept = {name: data for name, data in self.protocols.items() if name == protocol_name}
        return replace(self.renamed(self.member_id), protocols=kept)


__all__ = [
    "NO_MEMBER",
    "AnswerJoin",
    "AnswerSync",
    "GroupMember",
    "JoinRequest",
    "JoinResult",
    "JoinedMember",
    "SyncResult",
]
