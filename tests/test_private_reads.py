"""Attributes of aiokafka's inside: any client answers them, and none costs a program anything."""

import subprocess
import sys
from operator import attrgetter
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.private_reads import PrivateRead, with_private_reads
from aiokafka_lite.testing.broker import EmbeddedBroker

READ_BY_PROGRAMS = {
    "producer": (
        "_sender.sender_task.done _sender._sender_task _sender._acks _sender.client.ready"
        " _txn_manager.is_fatal_error _txn_manager.producer_id _txn_manager.transactional_id"
        " _message_accumulator._batches _message_accumulator.flush _partitioner _closed _loop"
        " _metadata.partitions_for_topic _key_serializer _value_serializer _request_timeout_ms"
        " _compression_type _max_request_size client._topics client._conns _source_traceback"
    ),
    "consumer": (
        "_client._topics _client._conns _client.cluster._brokers _client._maybe_wait_metadata"
        " _client._bootstrap_servers _client._client_id _client._loop _client._get_conn"
        " _coordinator.coordinator_id _coordinator.generation _coordinator.member_id"
        " _coordinator.group_id _coordinator._metadata_snapshot.get _coordinator.close"
        " _coordinator.fetch_committed_offsets _coordinator._heartbeat_task.done"
        " _coordinator._coordination_task.done _coordinator._session_timeout_ms"
        " _coordinator._group_instance_id _coordinator._subscription.topics"
        " _fetcher._fetch_task.done _fetcher._closed _fetcher._in_flight _fetcher.fetched_records"
        " _fetcher.next_record _fetcher._subscriptions.fetch_context _fetcher._fetch_waiters"
        " _subscription.subscription.topics _subscription.subscription.assignment.active"
        " _subscription.subscription.assignment.state_value _subscription.subscription.active"
        " _subscription.assigned_partitions _subscription.is_assigned _subscription.topics"
        " _subscription.partitions_auto_assigned _subscription.paused_partitions"
        " _subscription.subscribed_pattern _subscription._subscription_type.name"
        " _enable_auto_commit _auto_commit_interval_ms _max_poll_records _auto_offset_reset"
        " _group_id _group_instance_id _session_timeout_ms _heartbeat_interval_ms"
        " _rebalance_timeout_ms _max_poll_interval_ms _isolation_level _closed _loop"
        " _request_timeout_ms _retry_backoff_ms _partition_assignment_strategy _check_crcs"
        " _key_deserializer _value_deserializer _fetch_max_wait_ms _fetch_min_bytes"
        " _fetch_max_bytes _max_partition_fetch_bytes _exclude_internal_topics _client_rack"
    ),
    "admin": (
        "_client.cluster.brokers _client.cluster.topics _client.cluster.partitions_for_topic"
        " _client.fetch_all_metadata _client.force_metadata_update _client.ready _client.send"
        " _client.get_random_node _client._conns _client.hosts _get_cluster_metadata"
        " _send_request _send_to_controller _started _closed _request_timeout_ms"
    ),
}


async def test_every_read_has_an_answer() -> None:
    missing = []
    async with EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with (
            AIOKafkaProducer(**address) as producer,
            AIOKafkaConsumer("t", group_id="g", **address) as consumer,
            AIOKafkaAdminClient(**address) as admin,
        ):
            clients = {"producer": producer, "consumer": consumer, "admin": admin}
            for name, client in clients.items():
                for path in READ_BY_PROGRAMS[name].split():
                    try:
                        attrgetter(path)(client)
                    except AttributeError as error:
                        missing.append(f"{name}.{path}: {error}")
    assert not missing


def test_a_program_that_reads_none_imports_nothing_of_it() -> None:
    program = (
        "import sys; from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer\n"
        "AIOKafkaConsumer('t'), AIOKafkaProducer()\n"
        "sys.exit(any(name.startswith('aiokafka_lite.compat') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


class Options:
    enable_auto_commit = True


def test_an_attribute_is_read_set_and_missed() -> None:
    @with_private_reads("nothing", "_enable_auto_commit _no_such_option")
    class Client:
        def __init__(self) -> None:
            self._config = Options()

    client = Client()
    assert client._enable_auto_commit is True  # type: ignore[attr-defined]
    client._enable_auto_commit = False  # type: ignore[attr-defined]
    assert client._enable_auto_commit is False  # type: ignore[attr-defined]
    assert not hasattr(client, "_no_such_option")
    assert isinstance(vars(Client)["_enable_auto_commit"], PrivateRead)
    assert Client._enable_auto_commit is vars(Client)["_enable_auto_commit"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [AIOKafkaConsumer, AIOKafkaProducer])
def test_a_read_is_no_attribute_of_an_instance(kind: type) -> None:
    """An instance without dictionary is faster from Python 3.12 on."""
    client = kind()
    assert client._closed is False
    assert "_closed" not in vars(client)
