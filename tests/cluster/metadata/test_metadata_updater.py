"""Metadata follows the cluster: asked for when needed, once at a time, from whoever answers."""

import asyncio
import logging
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.errors import (
    Cancelled,
    InvalidTopicError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.cluster.support.answers import ID_A, ID_B, answer, partition, topic
from tests.cluster.support.scripted_cluster import ScriptedCluster
from tests.support.patience import eventually


@asynccontextmanager
async def client_of(
    cluster: ScriptedCluster, *, autojump: bool = False, **options: Any
) -> AsyncIterator[tuple[KafkaClient, FakeClock]]:
    clock = FakeClock(autojump_threshold_s=0.02 if autojump else None)
    own = {
        name: options.pop(name)
        for name in ("metadata_max_idle_ms", "allow_auto_topic_creation")
        if name in options
    }
    client = KafkaClient(
        cluster.config(**options), clock=clock, rng=random.Random(1), name="test", **own
    )
    await client.start()
    try:
        yield client, clock
    finally:
        await client.close()
        assert clock.pending_timers == 0


def names(request: MetadataRequest) -> list[str] | None:
    return None if request.topics is None else [str(asked.name) for asked in request.topics]


def one_partition(name: str) -> Any:
    return topic(name, [partition(0, 1)])


def no_answer(request: MetadataRequest) -> None:
    return None


# When it is asked…


async def test_metadata_is_asked_again_at_its_age(cluster: ScriptedCluster) -> None:
    """The client refreshes metadata when it reaches `metadata_max_age_ms` (2f-9)."""
    async with client_of(cluster, metadata_max_age_ms=60_000) as (client, clock):
        version = client.metadata.snapshot.version
        await clock.advance(59)
        assert len(cluster.requests) == 1
        await clock.advance(2)
        await eventually(lambda: len(cluster.requests) == 2)
        await eventually(lambda: client.metadata.snapshot.version > version)


async def test_many_requests_for_an_update_are_one_question(cluster: ScriptedCluster) -> None:
    async with client_of(cluster) as (client, _):
        for _ in range(5):
            client.metadata.request_update()
        await eventually(lambda: client.metadata.snapshot.version == 2)
        await asyncio.gather(*[client.metadata.refresh() for _ in range(5)])
        assert len(cluster.requests) == 3


async def test_there_is_one_question_at_a_time(cluster: ScriptedCluster) -> None:
    async with client_of(cluster) as (client, _):
        cluster.nodes[1].script = no_answer
        client.metadata.request_update()
        await eventually(lambda: len(cluster.requests) == 2)
        client.metadata.request_update()
        client.metadata.add_topic("t")
        await settle()
        assert len(cluster.requests) == 2


async def test_refresh_waits_for_an_answer_asked_for_after_the_call(
    cluster: ScriptedCluster,
) -> None:
    async with client_of(cluster) as (client, _):
        cluster.nodes[1].script = no_answer
        client.metadata.request_update()
        await eventually(lambda: len(cluster.requests) == 2)
        refreshing = asyncio.create_task(client.metadata.refresh())
        await settle()
        assert not refreshing.done()
        cluster.nodes[1].script = cluster.script
        cluster.nodes[1].cut()  # the first question is lost
        await eventually(lambda: len(cluster.requests) > 2 or _jump(client))
        await refreshing


def _jump(client: KafkaClient) -> bool:
    clock = client.clock
    assert isinstance(clock, FakeClock)
    clock._now += 0.01
    if (when := clock.next_timer_at) is not None and when <= clock._now:
        clock._jump_to(when)
    return False


async def test_a_refresh_that_cannot_succeed_ends_in_time_and_says_why(
    cluster: ScriptedCluster,
) -> None:
    async with client_of(cluster, autojump=True) as (client, clock):
        await cluster.nodes[1].stop()
        began = clock.monotonic()
        with pytest.raises(KafkaTimeoutError, match="refused") as caught:
            await client.metadata.refresh(timeout_s=5.0)
        assert "5 s" in str(caught.value)
        assert clock.monotonic() == pytest.approx(began + 5.0)
        client.check()


async def test_a_cancelled_refresh_goes_on(cluster: ScriptedCluster) -> None:
    async with client_of(cluster) as (client, _):
        version = client.metadata.snapshot.version
        refreshing = asyncio.create_task(client.metadata.refresh())
        await asyncio.sleep(0)
        refreshing.cancel()
        await eventually(lambda: client.metadata.snapshot.version > version)


async def test_a_lost_connection_asks_for_news(cluster: ScriptedCluster) -> None:
    """A lost connection starts a refresh: its node may no longer lead (2f-9)."""
    async with client_of(cluster, autojump=True) as (client, _):
        await client.metadata.refresh()
        asked = len(cluster.requests)
        cluster.nodes[1].cut()
        await eventually(lambda: len(cluster.requests) > asked)


async def test_answers_without_news_are_asked_for_less_and_less_often(
    cluster: ScriptedCluster,
) -> None:
    """The client asks less and less often while answers bring no news (2f-9, KIP-580)."""
    async with client_of(cluster) as (client, clock):
        await client.metadata.refresh()
        waits = []
        for _ in range(4):
            asked, began = len(cluster.requests), clock.monotonic()
            client.metadata.request_update()
            while len(cluster.requests) == asked:
                await clock.advance(0.01)
            await eventually(lambda: client.metadata._schedule._not_before_s > clock.monotonic())
            waits.append(clock.monotonic() - began)
        assert 0.08 <= waits[0] <= 0.14
        assert 0.3 <= waits[2] <= 0.5
        assert waits == sorted(waits)


# About what…


async def test_new_topics_are_asked_for_alone_and_the_rest_is_kept(
    cluster: ScriptedCluster,
) -> None:
    """New topics are asked for alone, and what is known of others stays (2f-9)."""
    cluster.describe = one_partition
    async with client_of(cluster) as (client, _):
        await client.metadata.wait_for_topic("a", 5)
        await client.metadata.wait_for_topic("b", 5)
        assert [names(request) for request in cluster.requests] == [[], ["a"], ["b"]]
        assert set(client.metadata.snapshot.topics) == {"a", "b"}
        await client.metadata.refresh()
        assert names(cluster.requests[-1]) == ["a", "b"]


async def test_an_idle_topic_is_forgotten(cluster: ScriptedCluster) -> None:
    """A topic that is unused for `metadata_max_idle_ms` is forgotten (2f-13, KIP-526)."""
    cluster.describe = one_partition
    async with client_of(cluster, metadata_max_idle_ms=10_000) as (client, clock):
        await client.metadata.wait_for_topic("a", 5)
        await client.metadata.wait_for_topic("b", 5)
        await clock.advance(6)
        client.metadata.add_topic("b")
        await clock.advance(6)
        await client.metadata.refresh()
        assert set(client.metadata.snapshot.topics) == {"b"}


async def test_a_consumers_topics_replace_each_other(cluster: ScriptedCluster) -> None:
    cluster.describe = one_partition
    async with client_of(cluster) as (client, _):
        client.metadata.set_topics(["a", "b"])
        await client.metadata.refresh()
        client.metadata.set_topics(["b", "c"])
        await client.metadata.refresh()
        assert set(client.metadata.snapshot.topics) == {"b", "c"}


async def test_all_topics_may_be_wanted(cluster: ScriptedCluster) -> None:
    cluster.describe = one_partition
    cluster.all_topics = ["x", "y"]
    async with client_of(cluster) as (client, _):
        client.metadata.set_topics(None)
        await client.metadata.refresh()
        assert names(cluster.requests[-1]) is None
        assert set(client.metadata.snapshot.topics) == {"x", "y"}


@pytest.mark.parametrize("allowed", [True, False])
async def test_whether_asking_may_create_a_topic_is_the_clients_choice(
    cluster: ScriptedCluster, allowed: bool
) -> None:
    cluster.describe = one_partition
    async with client_of(cluster, allow_auto_topic_creation=allowed) as (client, _):
        await client.metadata.wait_for_topic("a", 5)
        assert cluster.requests[-1].allow_auto_topic_creation is allowed


async def test_a_partition_without_leader_is_asked_for_again(cluster: ScriptedCluster) -> None:
    """The client asks again while a partition has no leader (2f-9)."""
    cluster.describe = lambda name: topic(name, [partition(0, -1, 3, error_code=5)])
    async with client_of(cluster, autojump=True) as (client, _):
        client.metadata.set_topics(["t"])
        await client.metadata.refresh()
        assert client.metadata.snapshot.available_partitions("t") == ()
        cluster.describe = lambda name: topic(name, [partition(0, 1, 4)])
        await eventually(lambda: client.metadata.snapshot.available_partitions("t") == (0,))


async def test_listeners_hear_of_each_refresh_before_those_who_wait(
    cluster: ScriptedCluster,
) -> None:
    async with client_of(cluster) as (client, _):
        heard: list[int] = []
        client.metadata.add_listener(lambda snapshot: heard.append(snapshot.version))
        snapshot = await client.metadata.refresh()
        assert heard == [snapshot.version]


# Waiting for a topic…


async def test_a_known_topic_is_there_at_once(cluster: ScriptedCluster) -> None:
    cluster.describe = one_partition
    async with client_of(cluster) as (client, _):
        await client.metadata.wait_for_topic("a", 5)
        asked = len(cluster.requests)
        snapshot = await client.metadata.wait_for_topic("a", 0)
        assert snapshot.leader(TopicPartition("a", 0)).node_id == 1
        assert len(cluster.requests) == asked


@pytest.mark.parametrize("code", [3, 5])
async def test_a_topic_that_appears_later_is_waited_for(
    cluster: ScriptedCluster, code: int
) -> None:
    """UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE: the usual answers during creation."""
    asked = 0

    def describe(name: str) -> Any:
        nonlocal asked
        asked += 1
        return topic(name, error_code=code) if asked < 4 else one_partition(name)

    cluster.describe = describe
    async with client_of(cluster, autojump=True) as (client, clock):
        await client.metadata.wait_for_topic("t", 60)
        assert asked == 4
        assert 0.4 < clock.monotonic() < 1.5  # 100 + 200 + 400 ms, give or take


async def test_a_topic_that_never_appears_ends_the_wait_naming_everything(
    cluster: ScriptedCluster,
) -> None:
    cluster.describe = lambda name: topic(name, error_code=3)
    async with client_of(cluster, autojump=True) as (client, clock):
        with pytest.raises(UnknownTopicOrPartitionError) as caught:
            await client.metadata.wait_for_topic("nowhere", 7)
        text = str(caught.value)
        assert "'nowhere'" in text
        assert "7 s" in text
        assert "UNKNOWN_TOPIC_OR_PARTITION" in text
        assert "create the topic" in text
        assert clock.monotonic() == pytest.approx(7.0)
        assert client.metadata._awaited == {}
        assert not client.metadata._waiters


async def test_another_answer_that_stays_is_a_timeout_with_it(cluster: ScriptedCluster) -> None:
    cluster.describe = lambda name: topic(name, error_code=5)
    async with client_of(cluster, autojump=True) as (client, _):
        with pytest.raises(KafkaTimeoutError, match="LEADER_NOT_AVAILABLE"):
            await client.metadata.wait_for_topic("t", 3)


async def test_no_answer_at_all_is_a_timeout_naming_the_topic(cluster: ScriptedCluster) -> None:
    async with client_of(cluster, autojump=True) as (client, _):
        await cluster.nodes[1].stop()
        with pytest.raises(KafkaTimeoutError, match=r"(?s)'t'.*refused"):
            await client.metadata.wait_for_topic("t", 3)


@pytest.mark.parametrize(
    ("code", "error"), [(17, InvalidTopicError), (29, TopicAuthorizationFailedError)]
)
async def test_an_answer_that_time_does_not_mend_is_raised_at_once(
    cluster: ScriptedCluster, code: int, error: type[Exception]
) -> None:
    cluster.describe = lambda name: topic(name, error_code=code)
    async with client_of(cluster) as (client, clock):
        with pytest.raises(error, match="'t'"):
            await client.metadata.wait_for_topic("t", 60)
        assert clock.monotonic() == 0.0


async def test_a_new_attempt_asks_again_after_such_an_answer(cluster: ScriptedCluster) -> None:
    cluster.describe = lambda name: topic(name, error_code=29)
    async with client_of(cluster, autojump=True) as (client, _):
        with pytest.raises(TopicAuthorizationFailedError):
            await client.metadata.wait_for_topic("t", 60)
        cluster.describe = one_partition  # the operator granted the right meanwhile
        await client.metadata.wait_for_topic("t", 60)


async def test_closing_ends_the_wait(cluster: ScriptedCluster) -> None:
    cluster.describe = lambda name: topic(name, error_code=3)
    async with client_of(cluster) as (client, _):
        waiting = asyncio.create_task(client.metadata.wait_for_topic("t", 60))
        await settle()
        await client.close()
        with pytest.raises(Cancelled):
            await waiting
        with pytest.raises(Cancelled):
            await client.metadata.wait_for_topic("u", 60)


async def test_a_cancelled_wait_leaves_no_trace(cluster: ScriptedCluster) -> None:
    cluster.describe = lambda name: topic(name, error_code=3)
    async with client_of(cluster) as (client, _):
        waiting = asyncio.create_task(client.metadata.wait_for_topic("t", 60))
        await settle()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not client.metadata._waiters
        assert client.metadata._awaited == {}


# Trouble…


async def test_when_the_asked_node_dies_another_answers(three_nodes: ScriptedCluster) -> None:
    async with client_of(three_nodes, autojump=True) as (client, _):
        await three_nodes.nodes[1].stop()
        await three_nodes.nodes[2].stop()
        three_nodes.known = {3}
        snapshot = await client.metadata.refresh()
        assert set(snapshot.nodes) == {3}


async def test_an_empty_list_of_brokers_is_a_failure(cluster: ScriptedCluster) -> None:
    """An answer without brokers is a failure: the broker is starting up (2f-9)."""
    async with client_of(cluster, autojump=True) as (client, _):
        known, cluster.known = cluster.known, set()
        with pytest.raises(KafkaTimeoutError, match="names no broker"):
            await client.metadata.refresh(timeout_s=2)
        assert set(client.metadata.snapshot.nodes) == {1}
        cluster.known = known
        await client.metadata.refresh(timeout_s=5)


async def test_a_failure_that_repeats_itself_is_logged_once_as_a_warning(
    cluster: ScriptedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(cluster, autojump=True) as (client, _):
        known, cluster.known = cluster.known, set()
        with caplog.at_level(logging.INFO, "aiokafka_lite.cluster"):
            with pytest.raises(KafkaTimeoutError):
                await client.metadata.refresh(timeout_s=5)
            assert [record.levelname for record in caplog.records] == ["WARNING"]
            cluster.known = known
            await client.metadata.refresh(timeout_s=5)
            assert caplog.records[-1].message.endswith(": metadata is up to date again")


def test_an_outage_that_lasts_is_logged_once_a_minute_with_its_length_and_the_client(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        config = ClientConfig(bootstrap_servers=kafka.bootstrap_servers, client_id="billing")
        client = KafkaClient(config, clock=kafka.clock, rng=kafka.rng)
        await client.start()
        kafka.broker.stop_node(1)
        with caplog.at_level(logging.INFO, "aiokafka_lite.cluster"):
            for _ in range(31):
                with pytest.raises(KafkaTimeoutError):
                    await client.metadata.refresh(timeout_s=10)
        await client.close()

    run_virtual_kafka(main)
    assert len(caplog.records) == 6
    first, *_, last = caplog.messages
    assert first.startswith("billing: metadata refresh failed, it goes on")
    assert re.match(r"billing: metadata refresh failed for 30\d s, it goes on trying", last)


async def test_when_no_known_node_answers_the_seeds_are_asked_again(
    three_nodes: ScriptedCluster,
) -> None:
    """The client asks `bootstrap_servers` again when no known node answers (KIP-899)."""
    three_nodes.known = {1}
    seeds = f"127.0.0.1:{three_nodes.nodes[1].port},127.0.0.1:{three_nodes.nodes[3].port}"
    async with client_of(three_nodes, autojump=True, bootstrap_servers=seeds) as (client, _):
        assert set(client.metadata.snapshot.nodes) == {1}
        await three_nodes.nodes[1].stop()
        three_nodes.known = {2, 3}
        snapshot = await client.metadata.refresh()
        assert set(snapshot.nodes) == {2, 3}
        await client.network.request(2, MetadataRequest(topics=[]))


async def test_without_recovery_the_seeds_are_left_alone(three_nodes: ScriptedCluster) -> None:
    """metadata_recovery_strategy="none"."""
    three_nodes.known = {1}
    seeds = f"127.0.0.1:{three_nodes.nodes[1].port},127.0.0.1:{three_nodes.nodes[3].port}"
    async with client_of(
        three_nodes,
        autojump=True,
        bootstrap_servers=seeds,
        metadata_recovery_strategy="none",
    ) as (client, _):
        await three_nodes.nodes[1].stop()
        before = three_nodes.nodes[3].connections
        with pytest.raises(KafkaTimeoutError):
            await client.metadata.refresh(timeout_s=5)
        assert three_nodes.nodes[3].connections == before
        await three_nodes.nodes[1].start()
        await client.metadata.refresh(timeout_s=5)


async def test_a_broker_may_call_for_a_rebootstrap(three_nodes: ScriptedCluster) -> None:
    """REBOOTSTRAP_REQUIRED makes the client ask `bootstrap_servers` again (KIP-1102)."""
    three_nodes.known = {1}
    seeds = f"127.0.0.1:{three_nodes.nodes[1].port}"
    async with client_of(three_nodes, autojump=True, bootstrap_servers=seeds) as (client, _):
        asked = 0

        def script(request: MetadataRequest) -> MetadataResponse | None:
            nonlocal asked
            asked += 1
            if asked == 1:
                return answer(nodes=[], error_code=129)
            three_nodes.known = {2}
            return three_nodes.script(request)

        three_nodes.nodes[1].script = script
        snapshot = await client.metadata.refresh()
        assert asked == 2
        assert set(snapshot.nodes) == {2}


async def test_the_seeds_are_asked_when_no_refresh_succeeded_for_long(
    three_nodes: ScriptedCluster,
) -> None:
    """The client asks `bootstrap_servers` when no refresh has succeeded for long (KIP-1102)."""
    three_nodes.known = {1}
    seeds = f"127.0.0.1:{three_nodes.nodes[3].port}"
    async with client_of(
        three_nodes,
        autojump=True,
        bootstrap_servers=seeds,
        metadata_recovery_rebootstrap_trigger_ms=3000,
    ) as (client, clock):
        assert set(client.metadata.snapshot.nodes) == {1}
        three_nodes.nodes[1].script = lambda request: answer(nodes=[])
        three_nodes.known = {2, 3}
        began = clock.monotonic()
        snapshot = await client.metadata.refresh()
        assert set(snapshot.nodes) == {2, 3}
        assert 3.0 < clock.monotonic() - began < 6.0


async def test_seeds_are_let_go_after_they_answered(three_nodes: ScriptedCluster) -> None:
    three_nodes.known = {3}
    seeds = f"127.0.0.1:{three_nodes.nodes[1].port}"
    async with client_of(three_nodes, bootstrap_servers=seeds):
        await eventually(lambda: not three_nodes.nodes[1].open_connections)


# What brokers say at different times…


async def test_an_older_leader_epoch_from_a_lagging_broker_is_ignored(
    cluster: ScriptedCluster,
) -> None:
    """The client ignores a leader with an older epoch, from a broker that lags (2f-10)."""
    leader = partition(0, 1, 5)
    cluster.describe = lambda name: topic(name, [leader], topic_id=ID_A)
    async with client_of(cluster) as (client, _):
        client.metadata.set_topics(["t"])
        await client.metadata.refresh()
        leader = partition(0, 2, 4)
        snapshot = await client.metadata.refresh()
        assert snapshot.leader(TopicPartition("t", 0)) == (1, 5)
        cluster.describe = lambda name: topic(name, [partition(0, 1, 0)], topic_id=ID_B)
        snapshot = await client.metadata.refresh()
        assert snapshot.leader(TopicPartition("t", 0)) == (1, 0)


async def test_partitions_that_an_answer_leaves_out_are_asked_for_again(
    cluster: ScriptedCluster,
) -> None:
    """The client asks again at once for partitions that an answer leaves out (2f-10)."""
    known = [partition(0, 1), partition(2, 1)]
    cluster.describe = lambda name: topic(name, known)
    async with client_of(cluster, autojump=True) as (client, clock):
        snapshot = await client.metadata.wait_for_topic("t", 5)
        assert snapshot.partition_ids("t") == (0, 2)
        known = [partition(number, 1) for number in range(3)]
        began_s = clock.monotonic()
        await eventually(lambda: client.metadata.snapshot.partition_ids("t") == (0, 1, 2))
        assert clock.monotonic() - began_s < 100


async def test_epochs_of_an_old_broker_are_not_trusted(cluster: ScriptedCluster) -> None:
    """Metadata before version 9 (brokers before 2.4)."""
    cluster.nodes[1].ranges[3] = (0, 8)
    cluster.describe = lambda name: topic(name, [partition(0, 1, 5)])
    async with client_of(cluster) as (client, _):
        snapshot = await client.metadata.wait_for_topic("t", 5)
        assert snapshot.leader(TopicPartition("t", 0)) == (1, -1)


# What others tell of leaders…


async def test_2b_9_a_hint_of_a_new_leader_is_told_to_listeners_and_usable_at_once(
    cluster: ScriptedCluster,
) -> None:
    cluster.describe = one_partition
    t0 = TopicPartition("t", 0)
    async with client_of(cluster) as (client, _):
        await client.metadata.wait_for_topic("t", 5)
        heard: list[int] = []
        client.metadata.add_listener(lambda snapshot: heard.append(snapshot.version))
        old = cluster.nodes[1]
        hint = {t0: LeaderAndEpoch(7, 3)}
        assert client.metadata.update_leaders(hint, [Node(7, "127.0.0.1", old.port)]) == {t0}
        assert client.metadata.snapshot.leader(t0) == (7, 3)
        assert heard == [client.metadata.snapshot.version]
        assert (await client.network.request(7, MetadataRequest(topics=[]))).brokers
        assert client.metadata.update_leaders(hint, []) == frozenset()
        assert len(heard) == 1


async def test_2c_4_a_newer_epoch_seen_elsewhere_asks_for_metadata(
    cluster: ScriptedCluster,
) -> None:
    t0 = TopicPartition("t", 0)
    cluster.describe = lambda name: topic(name, [partition(0, 1, 5)])
    async with client_of(cluster) as (client, _):
        client.metadata.set_topics(["t"])
        await client.metadata.refresh()
        asked = len(cluster.requests)
        client.metadata.note_leader_epoch(t0, 5)
        await settle()
        assert len(cluster.requests) == asked
        cluster.describe = lambda name: topic(name, [partition(0, 1, 6)])
        client.metadata.note_leader_epoch(t0, 6)
        assert client.metadata.snapshot.leader(t0) == (1, 5), "nobody else is known yet"
        await eventually(lambda: client.metadata.snapshot.leader(t0) == (1, 6))
