"""Each error code in each call of the admin client: is it asked for again, or told, and as what?

`AGAIN` has the codes that Java's client 4.4.0 calls retriable (Errors). Java's handlers
(AdminApiHandler, KafkaAdminClient) ask again for fewer of them; where a cluster moves, an admin
call has time until its bound. `TOLD` and `PASSING` have what a call does otherwise.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import MemberToRemove, NewPartitions, NewTopic, OffsetSpec
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    BrokerResponseError,
    GroupIdNotFound,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    ListenerNotFound,
    NonEmptyGroup,
    NotLeaderForPartitionError,
    PolicyViolationError,
    RebootstrapRequiredError,
    ResourceNotFoundError,
    ThrottlingQuotaExceededError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
    for_code,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.admin.support import cluster_call_rows, group_call_rows, topic_call_rows
from tests.admin.support.call_table import OPTIONS, ROWS, Things, problems
from tests.support.patience import eventually

assert all((topic_call_rows, group_call_rows, cluster_call_rows))  # they fill the table

CODES: Final = [-1, *range(1, 137)]
AGAIN: Final = {
    *(2, 3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 41, 51, 56, 70, 71, 72, 74, 75, 78, 80, 83, 84),
    *(88, 89, 100, 103, 106, 122, 123, 133),
}
"""RetriableException in Java."""
UNKNOWN_TOPIC: Final = {3, 100}
TOLD: Final[dict[str, set[int]]] = {
    "abort_transaction": {7, 20},  # the marker may be written, and a second one ends what follows
    "add_raft_voter": {7},  # the controller is silent or behind, or may be a voter by now
    "alter_partition_reassignments": UNKNOWN_TOPIC,  # the controller knows all topics
    "alter_replica_log_dirs": {9, 56},  # no replica, an offline directory
    "create_delegation_token": {7},  # a second token would be made
    "create_partitions": UNKNOWN_TOPIC,
    "delete_consumer_group_offsets": UNKNOWN_TOPIC,
    "delete_topics": UNKNOWN_TOPIC,
    "elect_leaders": {80, 83, 84, *UNKNOWN_TOPIC},  # how an election ends
    "list_consumer_group_offsets": UNKNOWN_TOPIC,  # of one partition; the others have their offsets
    "list_group_offsets": UNKNOWN_TOPIC,
    "remove_raft_voter": {7},
}
"""Codes that are retriable elsewhere, and why not here."""
PASSING: Final[dict[str, set[int]]] = {
    "abort_transaction": {8},  # AbortTransactionHandler
    "alter_consumer_group_offsets": {27},  # AlterConsumerGroupOffsetsHandler
    "alter_share_group_offsets": {27},  # AlterShareGroupOffsetsHandler
    "delete_share_group_offsets": {27},  # DeleteShareGroupOffsetsHandler
    "reset_offsets": {27},
}
"""Codes that are not retriable elsewhere."""
WITHOUT_CODES: Final = {"describe_cluster", "list_topics"}
"""Calls whose response has no error but REBOOTSTRAP_REQUIRED."""
IN_ROWS: Final = {"describe_configs", "describe_consumer_groups", "describe_topics"}
"""Calls that return the code in a row, as aiokafka does."""
ANOTHER_KIND: Final = {24, 35}
"""What DescribeGroups says of a group that another API may know."""
EVERY_BROKER: Final = {"list_consumer_groups", "list_groups", "list_transactions"}


@pytest.fixture
async def things() -> AsyncIterator[Things]:
    async with EmbeddedBroker(3, **OPTIONS) as broker:
        yield Things(broker)


def codes_in(answer: Any) -> list[int]:
    """The codes in the rows of an answer of aiokafka's form."""
    if isinstance(answer, list):
        return [code for each in answer for code in codes_in(each)]
    if isinstance(answer, dict):
        return [answer["error_code"]] if answer["error_code"] else []
    rows = answer.resources if hasattr(answer, "resources") else answer.groups
    return [each.error_code for each in rows if each.error_code]


async def outcome(name: str, call: Any, admin: AIOKafkaAdminClient) -> KafkaError | None:
    """The one error of a call, which it raises or has in the place of its one item."""
    try:
        answer = await call(admin, None)
    except KafkaError as error:
        return error
    found = problems(answer)
    if name in IN_ROWS:
        found = [for_code(code)() for code in codes_in(answer)]
    if name == "plan_offset_reset":
        found = list(answer.failed.values())
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("name", sorted(ROWS))
async def test_each_code(things: Things, name: str) -> None:
    row = ROWS[name]
    again = AGAIN - TOLD.get(name, set()) | PASSING.get(name, set())
    usual = 3 if name in EVERY_BROKER else 2 if name == "plan_offset_reset" else 1
    async with things.admin(retry_backoff_ms=1, retry_backoff_max_ms=1) as root:
        call = None
        for code in CODES:
            call = call or await row.prepare(things, root)
            things.broker.faults.clear()
            things.broker.forget_requests()
            things.broker.faults.fail(row.api, code)
            error = await outcome(name, call, root)
            asked = [each for each in things.broker.requests if each.api_key == row.api]
            if name == "find_hanging_transactions":  # asks the leaders of two partitions
                asked = asked[1:]
            if name in WITHOUT_CODES:
                assert type(error) is (RebootstrapRequiredError if code == 129 else type(None))
            elif name == "describe_topics" and code == 129:
                assert type(error) is RebootstrapRequiredError
            elif name == "describe_groups" and code in ANOTHER_KIND:
                assert type(error) is GroupIdNotFound
            elif code in again:
                assert type(error) is (row.expected or type(None)), code
                assert len(asked) == usual + 1, code
                call = None  # it has done its work
            else:
                assert type(error) is for_code(code), code
                assert len(asked) == usual, code
                call = None if name == "plan_offset_reset" else call


EMPTY_IS_AN_ANSWER: Final = {
    "describe_acls",
    "describe_client_quotas",
    "describe_cluster",
    "describe_delegation_tokens",
    "describe_features",
    "describe_user_scram_credentials",
    "list_config_resources",
    "list_consumer_group_offsets",
    "list_consumer_groups",
    "list_group_offsets",
    "list_groups",
    "list_partition_reassignments",
    "list_topics",
    "list_transactions",
    "update_features",
    "watch_partition_reassignments",
}
"""Calls that ask for all that there is, or whose response has rows only for errors."""
ONE_ANSWER: Final = {
    "add_raft_voter",
    "create_delegation_token",
    "expire_delegation_token",
    "fence_producers",
    "find_coordinator",
    "force_terminate_transaction",
    "remove_raft_voter",
    "renew_delegation_token",
    "unregister_broker",
    "unregister_controller",
}
"""Calls whose response has no rows."""
OTHERWISE: Final[dict[str, str]] = {
    "describe_groups": "is not a streams group",
    "describe_log_dirs": "needs DESCRIBE on the cluster",  # as Java takes it, for Kafka before 3.2
    "describe_replica_log_dirs": "needs DESCRIBE on the cluster",
}


def without_rows(monkeypatch: pytest.MonkeyPatch, api: ApiKey) -> None:
    """Let responses of an API have no rows."""
    real = AskedNode.request

    async def request(self: AskedNode, request: Request[Any], **options: Any) -> Response:
        response: Response = await real(self, request, **options)
        if type(request).api_key == api:
            for name in dir(response):
                if not name.startswith("_") and isinstance(getattr(response, name), list):
                    setattr(response, name, [])
        return response

    monkeypatch.setattr(AskedNode, "request", request)


@pytest.mark.parametrize("name", sorted(ROWS.keys() - EMPTY_IS_AN_ANSWER - ONE_ANSWER))
async def test_what_a_response_leaves_out_is_no_success(
    things: Things, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROWS[name]
    async with things.admin() as root:
        call = await row.prepare(things, root)
        things.broker.forget_requests()
        without_rows(monkeypatch, row.api)
        error = await outcome(name, call, root)
        if name == "describe_configs":
            assert type(error) is for_code(-1)
        else:
            assert error is not None
            assert OTHERWISE.get(name, "the response has no result for ") in str(error)
        if not row.is_repeatable:
            assert len([each for each in things.broker.requests if each.api_key == row.api]) == 1


# What only one of several parts says…


async def test_a_user_and_a_group_that_are_left_out(
    things: Things, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with things.admin() as root:
        group, _ = await things.group(root)
        without_rows(monkeypatch, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS)
        users = await root.describe_user_scram_credentials(["root"])
        assert type(users["root"]) is ResourceNotFoundError
        without_rows(monkeypatch, ApiKey.OFFSET_FETCH)
        offsets = await root.list_group_offsets([group])
        assert isinstance(offsets[group], KafkaProtocolError)


async def test_a_named_broker_without_a_replica_is_told_at_once(things: Things) -> None:
    where = things.partition()
    things.broker.faults.fail(ApiKey.DESCRIBE_PRODUCERS, NotLeaderForPartitionError, times=None)
    async with things.admin() as root:
        found = await root.describe_producers([where], broker_id=2)
        assert type(found[where]) is NotLeaderForPartitionError


@pytest.mark.parametrize("kind", ["create_topics", "delete_topics", "create_partitions"])
async def test_a_quota_that_lasts_is_told_as_a_quota(things: Things, kind: str) -> None:
    """CreateTopics, CreatePartitions and DeleteTopics of KIP-599."""
    old, new = things.topic(), things.name()
    things.broker.faults.fail(ROWS[kind].api, ThrottlingQuotaExceededError, times=None)
    clock = FakeClock(autojump_threshold_s=0.01)
    async with things.admin(clock=clock) as root:
        calls: dict[str, Any] = {
            "create_topics": lambda _, ms: root.create_topics([NewTopic(new, 1, 1)], ms),
            "delete_topics": lambda _, ms: root.delete_topics([old], ms),
            "create_partitions": lambda _, ms: root.create_partitions({old: NewPartitions(3)}, ms),
        }
        error = await outcome_within(calls[kind], root, 3_000)
        assert type(error) is ThrottlingQuotaExceededError
        assert f"{kind}(): no result within 3 s; " in str(error)
        assert str(error).endswith("; ask for less at a time, or raise the quota")


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        (ListenerNotFound, "LISTENER_NOT_FOUND|listener"),
        (BrokerNotAvailableError, "has no leader now"),
        (PolicyViolationError, None),
    ],
)
@pytest.mark.parametrize("name", ["list_offsets", "delete_records", "describe_producers"])
async def test_why_a_partition_has_no_leader(
    things: Things, name: str, code: type[BrokerResponseError], seen: str | None
) -> None:
    clock = FakeClock(autojump_threshold_s=0.01)
    async with things.admin(clock=clock) as root:
        call = await ROWS[name].prepare(things, root)
        topic = next(reversed(things.broker.cluster.topics))
        where = TopicPartition(topic, 0)
        for node in things.broker.cluster.nodes:
            things.broker.cluster.set_alive(node, is_alive=False)
        things.broker.faults.fail(ApiKey.METADATA, code, times=None, topic_partition=where)
        error = await outcome_within(call, root, 2_000)
        if seen is None:
            assert type(error) is code
        else:
            assert type(error) is KafkaTimeoutError
            assert any(part in str(error) for part in seen.split("|")), error


@pytest.mark.parametrize("name", ["list_offsets", "delete_records", "abort_transaction"])
async def test_a_topic_whose_leaders_are_not_available_is_looked_up_again(
    things: Things, name: str
) -> None:
    """PartitionLeaderStrategy; elsewhere the code is not retriable."""
    async with things.admin() as root:
        call = await ROWS[name].prepare(things, root)
        things.broker.faults.fail(ApiKey.METADATA, BrokerNotAvailableError)
        assert await outcome(name, call, root) is None


async def outcome_within(call: Any, admin: AIOKafkaAdminClient, ms: int) -> KafkaError:
    try:
        (error,) = problems(await call(admin, ms))
    except KafkaError as raised:
        return raised
    return error


async def test_an_offset_of_a_topic_that_is_gone_hides_no_other(things: Things) -> None:
    async with things.admin() as root:
        group, gone = await things.group(root)
        left = things.partition()
        (await root.alter_consumer_group_offsets(group, {left: 0})).raise_first()
        unknown = UnknownTopicOrPartitionError
        things.broker.faults.fail(ApiKey.OFFSET_FETCH, unknown, times=None, topic_partition=gone)
        offsets = (await root.list_group_offsets([group])).succeeded[group]
        lags = await root.group_lag(group)
        for found in (offsets, lags):
            assert type(found[gone]) is unknown
            assert found.succeeded.keys() == {left}
        plan = await root.plan_offset_reset(group, to=OffsetSpec.LATEST)
        assert plan.resets.keys() == {gone, left}


async def test_an_error_on_a_later_page_is_not_a_smaller_topic(things: Things) -> None:
    name, api = things.name(), ApiKey.DESCRIBE_TOPIC_PARTITIONS
    things.broker.create_topic(name, partitions=4)
    async with things.admin() as root:
        things.broker.faults.stall(api)
        running = asyncio.create_task(root.describe_topic_partitions([name], page_partitions=2))
        await eventually(lambda: any(each.api_key == api for each in things.broker.requests))
        things.broker.faults.fail(api, PolicyViolationError)  # of the second page
        things.broker.faults.release()
        found = await running
        assert type(found[name]) is PolicyViolationError


@pytest.mark.parametrize("api", [ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.STREAMS_GROUP_DESCRIBE])
async def test_a_kind_that_is_switched_off_hides_no_missing_group(
    things: Things, api: ApiKey
) -> None:
    things.broker.faults.fail(api, UnsupportedVersionError)
    async with things.admin() as root:
        found = await root.describe_groups(["there-is-none"])
        assert type(found["there-is-none"]) is GroupIdNotFound


@pytest.mark.parametrize("name", sorted(EVERY_BROKER))
async def test_brokers_that_are_not_available_are_not_asked_without_pause(
    things: Things, name: str
) -> None:
    row = ROWS[name]
    async with things.admin() as root:
        call = await row.prepare(things, root)
        things.broker.forget_requests()
        things.broker.faults.fail(row.api, BrokerNotAvailableError, times=None)
        with pytest.raises(BrokerNotAvailableError):
            await call(root, None)
        assert len([each for each in things.broker.requests if each.api_key == row.api]) == 3


async def test_a_refusal_does_not_wait_for_its_explanation(things: Things) -> None:
    """The group's state would be nice to know, and its coordinator does not tell it."""
    clock = FakeClock(autojump_threshold_s=0.01)
    async with things.admin() as root, things.admin(clock=clock) as admin:
        group, _ = await group_call_rows.joined(things, root)
        things.broker.faults.stall(ApiKey.CONSUMER_GROUP_DESCRIBE, times=None)
        found = await admin.delete_groups([group], 4_000)
        assert type(found[group]) is NonEmptyGroup
        members = [MemberToRemove("nobody")]
        removed = await admin.remove_members_from_consumer_group(group, members, None, 4_000)
        assert "none of them" in str(removed[members[0]])
