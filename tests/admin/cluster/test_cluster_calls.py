"""Features, the quorum and brokers that are gone, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import FeatureUpdate, UpgradeType
from aiokafka_lite.errors import (
    BrokerIdNotRegisteredError,
    ClusterAuthorizationFailedError,
    IllegalArgumentError,
    InvalidUpdateVersionError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotControllerError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.conftest import MAIN_VERSION, require_newer_kafka
from tests.support.patience import eventually_equals

TRANSACTIONS = "transaction.version"


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def level_of(admin: AIOKafkaAdminClient) -> int:
    return (await admin.describe_features()).finalized[TRANSACTIONS].max_level


@pytest.mark.needs_kafka("3.3", "features that are in force")
async def test_features_are_described(admin: AIOKafkaAdminClient) -> None:
    features = await admin.describe_features()
    assert features.epoch is not None
    assert all(levels.min_level <= levels.max_level for levels in features.supported.values())
    assert features.supported
    for name, levels in features.finalized.items():
        assert levels.max_level <= features.supported[name].max_level


@pytest.mark.needs_kafka("3.9", "addresses in its quorum")
async def test_the_quorum_is_described(admin: AIOKafkaAdminClient) -> None:
    quorum = await admin.describe_metadata_quorum()
    assert quorum.leader_id == 1
    (voter,) = quorum.voters
    assert voter.replica_id == 1
    assert voter.log_end_offset >= quorum.high_watermark >= 0
    assert quorum.nodes[1][0].port > 0
    assert quorum.observers == []


@pytest.mark.needs_kafka("4.0", "feature transaction.version")
async def test_a_level_that_cannot_be_is_refused(admin: AIOKafkaAdminClient) -> None:
    level = (await admin.describe_features()).finalized.get(TRANSACTIONS)
    outcomes = await admin.update_features({"nothing": FeatureUpdate(1)}, validate_only=True)
    with pytest.raises(InvalidUpdateVersionError, match="does not support this feature"):
        outcomes.raise_first()
    too_high = await admin.update_features({TRANSACTIONS: FeatureUpdate(9)}, validate_only=True)
    assert isinstance(too_high[TRANSACTIONS], InvalidUpdateVersionError)
    lower = {TRANSACTIONS: FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)}
    (await admin.update_features(lower, validate_only=True)).raise_first()
    assert (await admin.describe_features()).finalized.get(TRANSACTIONS) == level


async def test_a_level_goes_down_and_up_on_real_kafka(
    running_kafka: Callable[[str], ApacheKafka],
) -> None:
    require_newer_kafka(MAIN_VERSION, "feature that can be lowered")
    kafka = running_kafka(MAIN_VERSION)
    async with AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        before = (await admin.describe_features()).finalized[TRANSACTIONS].max_level
        lower = {TRANSACTIONS: FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)}
        higher = {TRANSACTIONS: FeatureUpdate(before)}
        (await admin.update_features(lower)).raise_first()
        try:
            await eventually_equals(lambda: level_of(admin), 1)
            features = await admin.describe_features()
            tool = "org.apache.kafka.tools.FeatureCommand"
            shown = await asyncio.to_thread(kafka.run_tool, tool, "describe")
        finally:
            (await admin.update_features(higher)).raise_first()
        await eventually_equals(lambda: level_of(admin), before)
    rows = [line.split() for line in shown.splitlines() if line.startswith("Feature:")]
    seen = {row[1]: (row[3], row[5], row[7]) for row in rows if row[1] != "metadata.version"}
    assert seen[TRANSACTIONS][2] == "1"
    levels = {
        name: (each.min_level, each.max_level, features.finalized[name].max_level)
        for name, each in features.supported.items()
        if name in features.finalized
    }
    for name, numbers in seen.items():
        assert numbers == tuple(map(str, levels.get(name, (*numbers[:2], 0))))


async def test_an_unknown_broker_cannot_be_unregistered(admin: AIOKafkaAdminClient) -> None:
    with pytest.raises(BrokerIdNotRegisteredError, match="99"):
        await admin.unregister_broker(99)
    for wrong in (-1, True, "1"):
        with pytest.raises(IllegalArgumentError, match=f"broker_id={wrong!r}"):
            await admin.unregister_broker(wrong)  # type: ignore[arg-type]


async def test_a_broker_that_is_gone_is_forgotten_until_it_comes_back() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.stop_node(2)
        await admin.unregister_broker(2)
        with pytest.raises(BrokerIdNotRegisteredError):
            await admin.unregister_broker(2)
        broker.start_node(2)
        await admin.unregister_broker(2)


async def test_a_new_level_is_in_force() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        before = await admin.describe_features()
        lower = {TRANSACTIONS: FeatureUpdate(0, UpgradeType.UNSAFE_DOWNGRADE)}
        assert await admin.update_features(lower) == {TRANSACTIONS: None}
        after = await admin.describe_features()
        assert set(before.finalized) - set(after.finalized) == {TRANSACTIONS}
        assert after.epoch == (before.epoch or 0) + 1


@pytest.mark.parametrize("level", [-1, 2**15, True, "2"])
async def test_a_level_is_a_number(level: Any) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        with pytest.raises(IllegalArgumentError, match=f"max_version_level={level!r}"):
            await admin.update_features({TRANSACTIONS: FeatureUpdate(level)})


async def test_brokers_before_3_3() -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.UPDATE_FEATURES: 0}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        refused = await admin.update_features({TRANSACTIONS: FeatureUpdate(1)})
        assert isinstance(refused[TRANSACTIONS], InvalidUpdateVersionError)
        lower = {TRANSACTIONS: FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)}
        assert not (await admin.update_features(lower)).failed
        for update, validate_only in (
            (FeatureUpdate(0, UpgradeType.UNSAFE_DOWNGRADE), False),
            (FeatureUpdate(2), True),
        ):
            with pytest.raises(UnsupportedVersionError, match=r"needs Kafka 3\.3"):
                await admin.update_features({TRANSACTIONS: update}, validate_only=validate_only)


async def test_a_controller_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.fail(ApiKey.UPDATE_FEATURES, NotControllerError)
        assert not (await admin.update_features({TRANSACTIONS: FeatureUpdate(2)})).failed
        first = await admin.describe_metadata_quorum()
        broker.stop_node(1)
        then = await admin.describe_metadata_quorum()
        assert (first.leader_id, then.leader_id) == (1, 2)
        assert then.leader_epoch == first.leader_epoch + 1


async def test_a_call_ends_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.fail(ApiKey.DESCRIBE_QUORUM, NotControllerError, times=1_000)
        with pytest.raises(KafkaTimeoutError, match=r"describe_metadata_quorum\(\): no result"):
            await admin.describe_metadata_quorum(timeout_ms=300)
        await broker.stop()
        with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
            await admin.describe_features(timeout_ms=300)


async def test_a_missing_right_is_told() -> None:
    acls = [Acl.allow("reader", "DESCRIBE", cluster=True)]
    async with (
        EmbeddedBroker(security="SASL_PLAINTEXT", users={"reader": "secret"}, acls=acls) as broker,
        AIOKafkaAdminClient(
            bootstrap_servers=broker.bootstrap_servers, **broker.client_options("reader")
        ) as admin,
    ):
        assert (await admin.describe_metadata_quorum()).leader_id == 1
        assert await admin.describe_features()
        update = {TRANSACTIONS: FeatureUpdate(2)}
        refused = (await admin.update_features(update))[TRANSACTIONS]
        assert isinstance(refused, ClusterAuthorizationFailedError)
        with pytest.raises(ClusterAuthorizationFailedError):
            await admin.unregister_broker(1)
