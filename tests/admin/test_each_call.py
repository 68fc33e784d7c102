"""What holds for every call of the admin client, by a table that has to have them all.

Each call: without rights, with a node that never answers, cancelled, with a node that goes down
while it is asked, with a node that sends it elsewhere, and with one bad item among good ones.
"""

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Iterator

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import FeatureUpdate
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    DelegationTokenAuthorizationFailed,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.admin.support import cluster_call_rows, group_call_rows, topic_call_rows
from tests.admin.support.call_table import MIXED, OPTIONS, ROWS, Call, CallRow, Things, problems
from tests.support.patience import eventually

assert all((topic_call_rows, group_call_rows, cluster_call_rows))  # they fill the table

LIFE = {"start", "close", "client_instance_id"}
"""What asks the cluster for nothing of its own. `tests/cluster/telemetry` has the client's id."""
ONE_THING = {
    "abort_transaction",
    "create_delegation_token",
    "describe_acls",
    "describe_client_quotas",
    "describe_cluster",
    "describe_delegation_tokens",
    "describe_features",
    "describe_metadata_quorum",
    "describe_user_scram_credentials",
    "expire_delegation_token",
    "find_coordinator",
    "add_raft_voter",
    "force_terminate_transaction",
    "find_hanging_transactions",
    "group_lag",
    "list_config_resources",
    "list_consumer_group_offsets",
    "list_consumer_groups",
    "list_groups",
    "list_partition_reassignments",
    "list_share_group_offsets",
    "list_topics",
    "list_transactions",
    "plan_offset_reset",
    "renew_delegation_token",
    "remove_raft_voter",
    "unregister_broker",
    "unregister_controller",
    "watch_partition_reassignments",
}
"""Calls about one thing, or about all that there are, so that no item of theirs can be bad."""
ALL_OR_NONE = {"update_features"}
"""Calls about several things that the cluster changes together or not at all."""
NEVER_MIXED = {"describe_streams_groups"}
"""The embedded broker has no good streams group."""
NAMED = {
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
}
RIGHTS = {*NAMED, ClusterAuthorizationFailedError, DelegationTokenAuthorizationFailed}
"""The errors about a right."""
HOUR_MS = 3_600_000
each_call = pytest.mark.parametrize("name", sorted(ROWS))


@pytest.fixture(scope="module")
def things() -> Iterator[Things]:
    with EmbeddedBroker.threaded(3, **OPTIONS) as broker:
        yield Things(broker)


@pytest.fixture(autouse=True)
def nothing_armed(things: Things) -> Iterator[None]:
    yield
    things.broker.faults.clear()
    for node in (1, 2, 3):
        things.broker.start_node(node)
    things.broker.forget_requests()


def asked(things: Things, row: CallRow) -> list[int]:
    """The nodes that have received the request of a row, in order."""
    return [each.node_id for each in things.broker.requests if each.api_key == row.api]


async def answer(call: Call, admin: AIOKafkaAdminClient, timeout_ms: int | None = None) -> object:
    """Return the answer; raise the first error in it."""
    found = await call(admin, timeout_ms)
    for error in problems(found):
        raise error
    return found


async def succeed(
    things: Things, row: CallRow, root: AIOKafkaAdminClient, admin: AIOKafkaAdminClient
) -> None:
    """Make the call anew, and check that it is answered as it is to be."""
    call = await row.prepare(things, root)
    await answered(row, answer(call, admin))


async def answered(row: CallRow, running: Awaitable[object]) -> None:
    if row.expected is None:
        await running
    else:
        with pytest.raises(row.expected):
            await running


def test_the_table_has_every_call() -> None:
    calls = {
        name
        for name, value in inspect.getmembers(AIOKafkaAdminClient)
        if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)
        if not name.startswith("_")
    }
    assert set(ROWS) == calls - LIFE


@each_call
async def test_without_the_right(things: Things, name: str) -> None:
    row = ROWS[name]
    user = "nobody" if callable(row.refused) or row.refused[1] == "DESCRIBE" else "viewer"
    async with things.admin() as root, things.admin(user) as admin:
        call = await row.prepare(things, root)
        if callable(row.refused):
            assert row.refused(await call(admin, None))
            return
        kind, right = row.refused
        thing = r".*'thing-\d+" if kind in NAMED else ""
        told = rf"{thing}.*needs .*{right}.*; grant it" if kind in RIGHTS else right
        with pytest.raises(kind, match=told) as caught:
            await answer(call, admin)
        assert type(caught.value) is kind


@each_call
async def test_a_node_that_never_answers(things: Things, name: str) -> None:
    row, clock = ROWS[name], FakeClock()
    async with things.admin() as root, things.admin(clock=clock) as admin:
        before = asyncio.all_tasks()
        calls = [await row.prepare(things, root) for _ in range(2)]
        things.broker.faults.stall(row.api, times=None)
        running = await begun(things, row, calls[0], admin, 5_000)
        await clock.advance(4.9)
        assert not running.done()
        await clock.advance(0.2)
        told = rf"{name}\(\): no result within 5 s"
        with pytest.raises(KafkaTimeoutError, match=told):
            await running
        running = await begun(things, row, calls[1], root, HOUR_MS)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await settle()
        left = {each.get_name() for each in asyncio.all_tasks() - before}
        assert not {name for name in left if ": connect[" not in name}  # these are the client's
        things.broker.faults.clear()
        await succeed(things, row, root, admin)


@pytest.mark.parametrize("steps", [1, 2, 5, 13])
@each_call
async def test_a_client_that_is_closed_meanwhile(things: Things, name: str, steps: int) -> None:
    row = ROWS[name]
    async with things.admin() as root:
        call = await row.prepare(things, root)
    admin = things.admin()
    await admin.start()
    running = asyncio.create_task(answer(call, admin))
    for _ in range(steps):
        await asyncio.sleep(0)
    await admin.close()
    with contextlib.suppress(KafkaConnectionError, row.expected or KafkaConnectionError):
        await running


async def begun(
    things: Things, row: CallRow, call: Call, admin: AIOKafkaAdminClient, timeout_ms: int
) -> "asyncio.Task[object]":
    """Begin a call whose request is held back, and wait until a node has received the request."""
    things.broker.forget_requests()
    running = asyncio.create_task(answer(call, admin, timeout_ms))
    await eventually(lambda: asked(things, row) or running.done())
    return running


@each_call
async def test_a_node_that_goes_down(things: Things, name: str) -> None:
    row = ROWS[name]
    async with things.admin() as root, things.admin(request_timeout_ms=2_000) as admin:
        call = await row.prepare(things, root)
        things.broker.faults.stall(row.api)
        running = await begun(things, row, call, admin, HOUR_MS)
        things.broker.stop_node(asked(things, row)[0])
        if row.one_broker:
            with pytest.raises(KafkaError, match=row.one_broker):
                await running
        elif row.is_repeatable:
            await answered(row, running)
        else:
            with pytest.raises(KafkaConnectionError):
                await running


@pytest.mark.parametrize("name", sorted(name for name, row in ROWS.items() if row.moved))
async def test_a_move_is_followed(things: Things, name: str) -> None:
    row = ROWS[name]
    assert row.moved is not None
    async with things.admin() as root, things.admin() as admin:
        call = await row.prepare(things, root)
        things.broker.forget_requests()
        things.broker.faults.fail(row.api, row.moved)
        await answered(row, answer(call, admin))
        assert len(asked(things, row)) >= 2


def test_each_call_about_several_things_has_a_bad_one() -> None:
    names = ROWS.keys() - ONE_THING - ALL_OR_NONE - NEVER_MIXED
    assert set(MIXED) == {f"mixed_{name}" for name in names}


async def test_a_bad_feature_keeps_the_good_one_from_being_changed(things: Things) -> None:
    async with things.admin() as root:
        updates = {"transaction.version": FeatureUpdate(1), "nothing": FeatureUpdate(1)}
        outcomes = await root.update_features(updates)
        assert outcomes.failed.keys() == updates.keys()
        assert (await root.describe_features()).finalized["transaction.version"].max_level == 2


@pytest.mark.parametrize("name", sorted(MIXED))
async def test_one_bad_item_among_good_ones(things: Things, name: str) -> None:
    clock = FakeClock()
    async with things.admin() as root, things.admin(clock=clock) as admin:
        call = await MIXED[name](things, root)
        running = asyncio.ensure_future(call(admin))
        while not running.done():  # an unknown topic may settle for a second
            await clock.advance(0.02)
            await asyncio.wait([running], timeout=0.001)
        outcomes = await running
        assert len(outcomes.failed) == 1
        assert len(outcomes.succeeded) == len(outcomes) - 1 > 0
