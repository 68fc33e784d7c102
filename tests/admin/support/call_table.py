"""What the table of all admin calls is made of: a row, and things for calls to work on.

`topic_call_rows`, `group_call_rows` and `cluster_call_rows` have the rows.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import DelegationToken, Outcomes
from aiokafka_lite.errors import (
    BrokerResponseError,
    KafkaError,
    NotControllerError,
    NotCoordinatorForGroupError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.testing.broker.bench import batch

OPTIONS: Final[dict[str, Any]] = {
    "security": "SASL_PLAINTEXT",
    "users": {"root": "secret", "viewer": "secret", "nobody": "secret"},
    "acls": [
        Acl.allow("viewer", "DESCRIBE", topic="thing", prefixed=True),
        Acl.allow("viewer", "DESCRIBE", group="thing", prefixed=True),
        Acl.allow("viewer", "DESCRIBE", transactional_id="thing", prefixed=True),
        Acl.allow("viewer", "DESCRIBE", cluster=True),
    ],
    "super_users": ["root"],
    "log_dirs": ("/a", "/b"),
    "auto_create_topics": False,
    "transaction_partition_verification_enable": False,
}
"""root may do everything, viewer may DESCRIBE, nobody may do nothing."""

ONE_RECORD: Final = batch(b"v")
CONTROLLER: Final = NotControllerError
COORDINATOR: Final = NotCoordinatorForGroupError
LEADER: Final = NotLeaderForPartitionError

Call = Callable[[AIOKafkaAdminClient, int | None], Awaitable[Any]]
"""One call with its arguments; the number is its timeout_ms."""
Mixed = Callable[[AIOKafkaAdminClient], Awaitable[Outcomes[Any, Any]]]
"""One call about a bad item and good ones."""


class Things:
    """Makes topics, groups and so on that belong to one row only, on one secured cluster."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker
        self._numbers = count()

    def admin(self, user: str = "root", **options: Any) -> AIOKafkaAdminClient:
        """Return a client of a user that is not started."""
        login = self.broker.client_options(user)
        return AIOKafkaAdminClient(
            bootstrap_servers=self.broker.bootstrap_servers,
            **login | {"retry_backoff_ms": 5} | options,
        )

    def name(self) -> str:
        """A name that nothing has."""
        return f"thing-{next(self._numbers)}"

    def topic(self, replication_factor: int = 3) -> str:
        """A topic of two partitions, by default on all nodes."""
        name = self.name()
        self.broker.create_topic(name, partitions=2, replication_factor=replication_factor)
        return name

    def partition(self) -> TopicPartition:
        """A partition with a record."""
        found = TopicPartition(self.topic(), 0)
        self.broker.append(found, ONE_RECORD)
        return found

    async def group(self, root: AIOKafkaAdminClient) -> tuple[str, TopicPartition]:
        """A group without members, and the partition of which it has an offset."""
        name, where = self.name(), self.partition()
        (await root.alter_consumer_group_offsets(name, {where: 0})).raise_first()
        return name, where

    async def transaction(self, root: AIOKafkaAdminClient) -> str:
        """A transactional id that its coordinator knows."""
        name = self.name()
        (await root.fence_producers([name])).raise_first()
        return name

    async def token(self, root: AIOKafkaAdminClient) -> DelegationToken:
        """A delegation token of root."""
        return await root.create_delegation_token()


Prepare = Callable[[Things, AIOKafkaAdminClient], Awaitable[Call]]
PrepareMixed = Callable[[Things, AIOKafkaAdminClient], Awaitable[Mixed]]


@dataclass(frozen=True, kw_only=True)
class CallRow:
    """One call of the admin client, and what is true of it."""

    prepare: Prepare
    """Makes what the call needs, as root, and returns the call."""
    api: ApiKey
    """The request that does the work."""
    moved: type[BrokerResponseError] | None
    """How a node says that the call must go elsewhere now; None: there is no other node, or the
    response has no error."""
    refused: tuple[type[KafkaError], str] | Callable[[Any], bool]
    """The error of a user without rights and the right that it names; otherwise what the answer
    looks like."""
    expected: type[KafkaError] | None = None
    """What the embedded broker answers to root; None: no error."""
    one_broker: str = ""
    """What a call about one broker says if this one is down; empty: another one answers."""
    is_repeatable: bool = True
    """Whether a request is sent again after its response was lost."""


ROWS: Final[dict[str, CallRow]] = {}
"""The row of each call, by the call's name."""
MIXED: Final[dict[str, PrepareMixed]] = {}
"""Calls about several things, by the call's name."""


def row(
    api: ApiKey,
    moved: type[BrokerResponseError] | None,
    refused: tuple[type[KafkaError], str] | Callable[[Any], bool],
    **more: Any,
) -> Callable[[Prepare], Prepare]:
    """Note the row of the call that the function is named after."""

    def note(prepare: Prepare) -> Prepare:
        name = prepare.__name__
        assert name not in ROWS, name
        ROWS[name] = CallRow(prepare=prepare, api=api, moved=moved, refused=refused, **more)
        return prepare

    return note


def several(prepare: PrepareMixed) -> PrepareMixed:
    """Note what the call, which the function is named after, does with one bad item among good."""
    MIXED[prepare.__name__] = prepare
    return prepare


def problems(answer: object) -> list[KafkaError]:
    """Return the errors in an answer, also those in the place of a part."""
    if isinstance(answer, KafkaError):
        return [answer]
    if isinstance(answer, Mapping):
        return [error for each in answer.values() for error in problems(each)]
    for name in ("topics", "configs"):
        if hasattr(answer, name):
            return problems(getattr(answer, name))
    if isinstance(answer, list):
        return [error for each in answer for error in problems(each)]
    return []


__all__ = [
    "CONTROLLER",
    "COORDINATOR",
    "LEADER",
    "MIXED",
    "OPTIONS",
    "ROWS",
    "Call",
    "CallRow",
    "Mixed",
    "Things",
    "problems",
    "row",
    "several",
]
