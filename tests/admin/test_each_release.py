"""Each call of the admin client on each release of Kafka: it works, or says which one it needs.

The embedded broker has the API versions of the release, and no others.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final
from uuid import UUID

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import (
    ElectionType,
    FeatureUpdate,
    MemberToRemove,
    NewTopic,
    OffsetSpec,
    UpgradeType,
)
from aiokafka_lite.errors import KafkaError, UnsupportedVersionError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.admin.support import cluster_call_rows, group_call_rows, topic_call_rows
from tests.admin.support.call_table import OPTIONS, ROWS, CallRow, Things, problems
from tests.support.releases import Release, releases

assert all((topic_call_rows, group_call_rows, cluster_call_rows))  # they fill the table

Admin = AIOKafkaAdminClient
TOKENS: Final = "1.1/3.6"
SCRAM: Final = "2.7/3.5"
NEEDS: Final = {
    "abort_transaction": "2.8",
    "add_raft_voter": "3.9 kraft",
    "alter_client_quotas": "2.6",
    "alter_partition_reassignments": "2.4",
    "alter_share_group_offsets": "4.1",
    "alter_user_scram_credentials": SCRAM,
    "create_delegation_token": "3.3/3.6",  # the call of the table names an owner
    "delete_consumer_group_offsets": "2.4",
    "delete_share_group_offsets": "4.1",
    "describe_client_quotas": "2.6",
    "describe_delegation_tokens": TOKENS,
    "describe_metadata_quorum": "3.3 kraft",
    "describe_producers": "2.8",
    "describe_share_groups": "4.1",
    "describe_streams_groups": "4.2",
    "describe_transactions": "3.0",
    "describe_user_scram_credentials": SCRAM,
    "elect_leaders": "2.2",
    "expire_delegation_token": TOKENS,
    "find_hanging_transactions": "2.8",
    "incremental_alter_configs": "2.3",
    "list_config_resources": "4.1",
    "list_partition_reassignments": "2.4",
    "list_share_group_offsets": "4.1",
    "list_transactions": "3.0",
    "remove_members_from_consumer_group": "2.4",
    "remove_raft_voter": "3.9 kraft",
    "renew_delegation_token": TOKENS,
    "unregister_broker": "3.3 kraft",
    "unregister_controller": "4.4 kraft",
    "update_features": "2.7",
    "watch_partition_reassignments": "2.4",
}
"""The first release that can serve a call; with ZooKeeper / with KRaft where that differs. Any
other call works on each.
"""

P0: Final = TopicPartition("t", 0)
Call = Callable[[Admin], Awaitable[Any]]


async def each_reassignment(admin: Admin) -> list[Any]:
    return [each async for each in admin.watch_partition_reassignments()]


WITHOUT_PREPARATION: Final[dict[str, Call]] = {
    "delete_share_group_offsets": lambda admin: admin.delete_share_group_offsets("g", ["t"]),
    "describe_delegation_tokens": lambda admin: admin.describe_delegation_tokens(),
    "describe_share_groups": lambda admin: admin.describe_share_groups(["g"]),
    "expire_delegation_token": lambda admin: admin.expire_delegation_token(b"h"),
    "list_share_group_offsets": lambda admin: admin.list_share_group_offsets("g"),
    "remove_members_from_consumer_group": lambda admin: admin.remove_members_from_consumer_group(
        "g", [MemberToRemove("m")]
    ),
    "renew_delegation_token": lambda admin: admin.renew_delegation_token(b"h"),
}
"""Calls on things that cannot be made on a release that cannot serve them either."""


def name_of(name: str) -> Call:
    """Return the call that creates a topic with the brokers' own settings."""

    async def call(admin: Admin) -> Any:
        return (await admin.create_topics([NewTopic(name)])).topics

    return call


def offsets(spec: OffsetSpec) -> Call:
    return lambda admin: admin.list_offsets({P0: spec})


async def delete_by_id(admin: Admin) -> Any:
    return (await admin.delete_topics([UUID(int=5)])).topics


ASKING_FOR_MORE: Final[dict[str, tuple[str, ApiKey, Call]]] = {
    "topics by id": ("2.8", ApiKey.DELETE_TOPICS, delete_by_id),
    "default partitions": ("2.4", ApiKey.CREATE_TOPICS, name_of("by-default")),
    "a token of one's own": (
        TOKENS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        lambda admin: admin.create_delegation_token(),
    ),
    "a token for another": (
        "3.3/3.6",
        ApiKey.CREATE_DELEGATION_TOKEN,
        lambda admin: admin.create_delegation_token(owner="User:viewer"),
    ),
    "an unclean election": (
        "2.4",
        ApiKey.ELECT_LEADERS,
        lambda admin: admin.elect_leaders(ElectionType.UNCLEAN, [P0]),
    ),
    "a fixed replication factor": (
        "4.1",
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        lambda admin: admin.alter_partition_reassignments(
            {P0: [1, 2, 3]}, allow_replication_factor_change=False
        ),
    ),
    "groups in a state": (
        "2.6",
        ApiKey.LIST_GROUPS,
        lambda admin: admin.list_groups(states=["Stable"]),
    ),
    "groups of a type": (
        "3.8",
        ApiKey.LIST_GROUPS,
        lambda admin: admin.list_groups(types=["classic"]),
    ),
    "long transactions": (
        "3.8",
        ApiKey.LIST_TRANSACTIONS,
        lambda admin: admin.list_transactions(duration_ms=1),
    ),
    "transactions by pattern": (
        "4.1",
        ApiKey.LIST_TRANSACTIONS,
        lambda admin: admin.list_transactions(transactional_id_pattern="a.*"),
    ),
    "stable offsets": (
        "2.5",
        ApiKey.OFFSET_FETCH,
        lambda admin: admin.list_group_offsets(["g"], require_stable=True),
    ),
    "a checked feature": (
        "3.3",
        ApiKey.UPDATE_FEATURES,
        lambda admin: admin.update_features(
            {"transaction.version": FeatureUpdate(1, UpgradeType.UPGRADE)}, validate_only=True
        ),
    ),
    "the greatest timestamp": ("3.0", ApiKey.LIST_OFFSETS, offsets(OffsetSpec.MAX_TIMESTAMP)),
    "the local log": ("3.5", ApiKey.LIST_OFFSETS, offsets(OffsetSpec.EARLIEST_LOCAL)),
    "tiered offsets": ("3.9", ApiKey.LIST_OFFSETS, offsets(OffsetSpec.LATEST_TIERED)),
    "offsets to upload": (
        "4.2",
        ApiKey.LIST_OFFSETS,
        offsets(OffsetSpec.EARLIEST_PENDING_UPLOAD),
    ),
}
"""What an argument asks for, with the release that it needs and its request."""


@pytest.fixture(scope="module", params=releases(), ids=lambda release: release.name)
def release(request: pytest.FixtureRequest) -> Release:
    found: Release = request.param
    return found


@pytest.fixture(scope="module")
def things(release: Release) -> Iterator[Things]:
    with EmbeddedBroker.threaded(3, **release.options(**OPTIONS)) as broker:
        broker.create_topic("t", partitions=1, replication_factor=3)
        yield Things(broker)


async def call_of(things: Things, row: CallRow, name: str, root: Admin) -> Call:
    try:
        call = await row.prepare(things, root)
    except UnsupportedVersionError:
        return WITHOUT_PREPARATION[name]
    return lambda admin: call(admin, None)


def named(needed: str, api: ApiKey, release: Release) -> str:
    """Return the release that a refusal names, "" for any: of a release without the API it names
    the first one that has it.
    """
    return needed.split(maxsplit=1)[0].partition("/")[0] if api in release.ranges else ""


async def refused(things: Things, api: ApiKey, needed: str, running: Awaitable[Any]) -> None:
    """Check that a call is refused in the user's words, before its request is sent.

    `needed`: the release that the words name.
    """
    things.broker.forget_requests()
    try:
        found = problems(await running)
    except UnsupportedVersionError as error:
        found = [error]
    assert [type(each) for each in found] == [UnsupportedVersionError]
    assert re.search(rf"needs? Kafka {re.escape(needed)}.*\(KIP-\d+", str(found[0]))
    assert api not in {each.api_key for each in things.broker.requests}


async def test_each_call_works_or_says_what_it_needs(things: Things, release: Release) -> None:
    """A refusal names the release, and its request was not sent (2f-17)."""
    async with things.admin(request_timeout_ms=30_000) as root:
        for name, row in ROWS.items():
            call = await call_of(things, row, name, root)
            needed = NEEDS.get(name, "2.1")
            if not release.has(needed):
                await refused(things, row.api, named(needed, row.api, release), call(root))
                continue
            try:
                found = problems(await call(root))
            except KafkaError as error:
                found = [error]
            expected = [] if row.expected is None else [row.expected]
            assert [type(error) for error in found] == expected, (name, found)
    assert release.strangers(things.broker) == []


@pytest.mark.parametrize("what", sorted(ASKING_FOR_MORE))
async def test_an_argument_of_newer_brokers_says_so(
    things: Things, release: Release, what: str
) -> None:
    needed, api, call = ASKING_FOR_MORE[what]
    async with things.admin(request_timeout_ms=30_000) as root:
        if not release.has(needed):
            await refused(things, api, named(needed, api, release), call(root))
            return
        try:
            found = problems(await call(root))
        except KafkaError as error:  # what the embedded broker says of it
            found = [error]
        assert not [each for each in found if isinstance(each, UnsupportedVersionError)]


def test_the_table_names_calls_that_there_are() -> None:
    assert NEEDS.keys() <= ROWS.keys()
    assert WITHOUT_PREPARATION.keys() <= NEEDS.keys()
