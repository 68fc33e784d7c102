"""A group on a clock that tests move, and what its members are told."""

import random
from typing import Any

from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup
from aiokafka_lite.testing.broker.state.groups.group_member import (
    JoinRequest,
    JoinResult,
    SyncResult,
)
from aiokafka_lite.testing.broker.state.groups.group_membership import GroupMembership
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.fake_clock import FakeClock

SESSION_S = 10
REBALANCE_S = 60


def join_request(**fields: Any) -> JoinRequest:
    """A JoinGroup of version 3: a dynamic member needs no second request."""
    return JoinRequest(
        **{
            "member_id": "",
            "group_instance_id": None,
            "protocol_type": "consumer",
            "protocols": {"range": b"r"},
            "session_timeout_ms": SESSION_S * 1000,
            "rebalance_timeout_ms": REBALANCE_S * 1000,
            "client_id": "c",
            **fields,
        }
    )


class Served:
    """One group, and the answers it gave: one list per JoinGroup or SyncGroup, in their order."""

    def __init__(self, **options: Any) -> None:
        self.clock = FakeClock()
        self.fired = 0
        self.timers = GroupTimers(self.clock, self._count)
        self.membership = GroupMembership(
            ClassicGroup("g"), self.timers, BrokerOptions(**options), random.Random(1)
        )

    def _count(self) -> None:
        self.fired += 1

    @property
    def group(self) -> ClassicGroup:
        return self.membership.group

    @property
    def ids(self) -> list[str]:
        return list(self.group.members)

    def join(self, **fields: Any) -> list[JoinResult]:
        """Ask to join; the list gets the answer."""
        answers: list[JoinResult] = []
        self.membership.join(join_request(**fields), answers.append)
        return answers

    def joined(self, **fields: Any) -> JoinResult:
        """Join; the answer must come at once."""
        (answer,) = self.join(**fields)
        return answer

    def sync(
        self,
        member_id: str,
        assignments: dict[str, bytes] | None = None,
        *,
        instance_id: str | None = None,
        generation_id: int | None = None,
        **more: Any,
    ) -> list[SyncResult]:
        """Ask for the assignment; the list gets the answer."""
        answers: list[SyncResult] = []
        self.membership.sync(
            member_id,
            instance_id,
            self.group.generation_id if generation_id is None else generation_id,
            assignments or {},
            answers.append,
            **more,
        )
        return answers

    def stable(self, **fields: Any) -> str:
        """Let one member join and assign b"all" to itself; return its id."""
        member_id = self.joined(**fields).member_id
        instance_id = fields.get("group_instance_id")
        (answer,) = self.sync(member_id, {member_id: b"all"}, instance_id=instance_id)
        assert answer.assignment == b"all"
        return member_id

    def pair(self) -> tuple[str, str]:
        """Two members of a stable group, the first one leads; return their ids."""
        first = self.stable()
        second = self.join()
        self.joined(member_id=first)
        self.sync(first, {first: b"1", second[0].member_id: b"2"})
        self.sync(second[0].member_id)
        return first, second[0].member_id
