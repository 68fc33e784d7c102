"""Voters of the quorum, and controllers that are gone, on the embedded broker and on real Kafka."""

import asyncio
from uuid import UUID

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import FeatureUpdate, QuorumEndpoint, QuorumInfo, UpgradeType
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    ControllerIdNotRegisteredError,
    DuplicateVoterError,
    IllegalArgumentError,
    InconsistentClusterIdError,
    InvalidRequestError,
    KafkaConnectionError,
    RequestTimedOutError,
    UnsupportedVersionError,
    VoterNotFoundError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.kafka_node import KafkaNode
from tests.conftest import MAIN_VERSION, require_kafka, require_newer_kafka

ENDPOINTS = [QuorumEndpoint("CONTROLLER", "localhost", 9093)]
STRANGER = UUID(int=5)


def voters(quorum: QuorumInfo) -> list[int]:
    return [each.replica_id for each in quorum.voters]


async def test_a_voter_goes_and_comes_back() -> None:
    """With the level 1 of kraft.version; a voter that was removed goes on as an observer."""
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        (await admin.update_features({"kraft.version": FeatureUpdate(1)})).raise_first()
        quorum = await admin.describe_metadata_quorum()
        cluster_id = (await admin.describe_cluster())["cluster_id"]
        own = {each.replica_id: each.directory_id for each in quorum.voters}
        assert len({*own.values()}) == 3
        with pytest.raises(DuplicateVoterError, match="voter 2"):
            await admin.add_raft_voter(2, own[2], ENDPOINTS)
        with pytest.raises(VoterNotFoundError, match="voter 2"):
            await admin.remove_raft_voter(2, own[3])
        await admin.remove_raft_voter(1, own[1], cluster_id=cluster_id)
        quorum = await admin.describe_metadata_quorum()
        assert (quorum.leader_id, quorum.leader_epoch, voters(quorum)) == (2, 1, [2, 3])
        assert [(each.replica_id, each.directory_id) for each in quorum.observers] == [(1, own[1])]
        assert set(quorum.nodes) == {2, 3}
        with pytest.raises(VoterNotFoundError, match="voter 1"):
            await admin.remove_raft_voter(1, own[1])
        with pytest.raises(InvalidRequestError, match="CONTROLLER"):
            await admin.add_raft_voter(1, own[1], [QuorumEndpoint("OTHER", "localhost", 9)])
        for wrong in (STRANGER, own[2]):
            with pytest.raises(RequestTimedOutError, match="lagging behind"):
                await admin.add_raft_voter(1, wrong, ENDPOINTS)
        with pytest.raises(RequestTimedOutError, match="BROKER_NOT_AVAILABLE"):
            await admin.add_raft_voter(9, STRANGER, ENDPOINTS)
        await admin.add_raft_voter(1, own[1], ENDPOINTS, cluster_id=cluster_id)
        quorum = await admin.describe_metadata_quorum()
        assert (quorum.leader_id, voters(quorum), quorum.observers) == (1, [1, 2, 3], [])
        for node_id in (3, 2):
            await admin.remove_raft_voter(node_id, own[node_id])
        with pytest.raises(VoterNotFoundError):
            await admin.remove_raft_voter(1, own[1])
        for call in (
            admin.add_raft_voter(2, own[2], ENDPOINTS, cluster_id="other"),
            admin.remove_raft_voter(1, own[1], cluster_id="other"),
        ):
            with pytest.raises(InconsistentClusterIdError, match='"other" doesn\'t match'):
                await call


@pytest.mark.real_kafka
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_javas_tool_sees_voters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller of a real cluster is added to the voters, removed, and unregistered. The first
    votes alone at first, and the others observe the quorum.
    """
    require_newer_kafka(MAIN_VERSION, "controllers that can be unregistered")
    require_kafka(MAIN_VERSION)
    plain = KafkaNode.format

    def format_as_voter_or_observer(node: KafkaNode, *more: str) -> None:
        plain(node, *more, "--standalone" if node.node_id == 1 else "--no-initial-controllers")

    ports: list[int] = []
    settings_with_voters = ApacheKafka._kraft_settings

    def settings_with_one_voter(kafka: ApacheKafka) -> list[tuple[int | None, dict[str, str]]]:
        of_nodes = settings_with_voters(kafka)
        ports.extend(port for port, _ in of_nodes if port is not None)
        first = f"127.0.0.1:{ports[0]}"
        return [
            (port, {"node.id": own["node.id"], "controller.quorum.bootstrap.servers": first})
            for port, own in of_nodes
        ]

    monkeypatch.setattr(KafkaNode, "format", format_as_voter_or_observer)
    monkeypatch.setattr(ApacheKafka, "_kraft_settings", settings_with_one_voter)

    async def statuses() -> dict[int, str]:
        tool = ("org.apache.kafka.tools.MetadataQuorumCommand", "describe", "--replication")
        rows = (await asyncio.to_thread(kafka.run_tool, *tool)).splitlines()[1:]
        return {int(row.split()[0]): row.split()[-1] for row in rows if row.strip()}

    with ApacheKafka(MAIN_VERSION, nodes=3) as kafka:
        async with AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
            quorum = await admin.describe_metadata_quorum()
            assert voters(quorum) == [1]
            (second,) = (each for each in quorum.observers if each.replica_id == 2)
            endpoint = QuorumEndpoint("CONTROLLER", "127.0.0.1", ports[1])
            with pytest.raises(RequestTimedOutError, match="lagging behind"):
                await admin.add_raft_voter(2, STRANGER, [endpoint])
            with pytest.raises(RequestTimedOutError, match="BROKER_NOT_AVAILABLE"):
                await admin.add_raft_voter(9, STRANGER, [endpoint._replace(port=1)])
            with pytest.raises(InvalidRequestError, match="CONTROLLER"):
                await admin.add_raft_voter(
                    2, second.directory_id, [endpoint._replace(listener="X")]
                )
            with pytest.raises(VoterNotFoundError):
                await admin.remove_raft_voter(1, quorum.voters[0].directory_id)
            await admin.add_raft_voter(2, second.directory_id, [endpoint])
            assert await statuses() == {1: "Leader", 2: "Follower", 3: "Observer"}
            with pytest.raises(DuplicateVoterError):
                await admin.add_raft_voter(2, second.directory_id, [endpoint])
            with pytest.raises(VoterNotFoundError):
                await admin.remove_raft_voter(2, STRANGER)
            await admin.remove_raft_voter(2, second.directory_id)
            assert voters(await admin.describe_metadata_quorum()) == [1]
            await asyncio.to_thread(kafka.nodes[1].kill)
            await admin.unregister_controller(2)
            for unknown in (2, 99):
                with pytest.raises(ControllerIdNotRegisteredError, match=f"ID {unknown} is not"):
                    await admin.unregister_controller(unknown)


async def test_voters_that_are_fixed_stay() -> None:
    """With the level 0 of kraft.version, as where the voters stand in the configuration."""
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        (voter,) = (await admin.describe_metadata_quorum()).voters
        assert voter.directory_id == UUID(int=0)
        for call, what in (
            (admin.add_raft_voter(2, STRANGER, ENDPOINTS), "adding"),
            (admin.remove_raft_voter(1, STRANGER), "removing"),
        ):
            with pytest.raises(UnsupportedVersionError, match=f"{what} voter because the kraft"):
                await call


async def test_a_change_of_voters_is_not_asked_for_twice() -> None:
    """A lost response leaves open what happened; the second request would say something else."""
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        (await admin.update_features({"kraft.version": FeatureUpdate(1)})).raise_first()
        voter = (await admin.describe_metadata_quorum()).voters[2]
        broker.faults.cut(ApiKey.REMOVE_RAFT_VOTER)
        with pytest.raises(KafkaConnectionError):
            await admin.remove_raft_voter(3, voter.directory_id)
        assert len(broker.requests_of(RemoveRaftVoterRequest)) == 1
        assert voters(await admin.describe_metadata_quorum()) == [1, 2]


async def test_a_controller_that_is_gone_is_forgotten() -> None:
    """One that runs registers itself again."""
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.unregister_controller(2)
        await admin.unregister_controller(2)
        broker.stop_node(2)
        await admin.unregister_controller(2)
        for unknown in (2, 9):
            with pytest.raises(ControllerIdNotRegisteredError, match=f"ID {unknown} is not"):
                await admin.unregister_controller(unknown)
        broker.start_node(2)
        await admin.unregister_controller(2)
        older = {"metadata.version": FeatureUpdate(32, UpgradeType.UNSAFE_DOWNGRADE)}
        (await admin.update_features(older)).raise_first()
        with pytest.raises(UnsupportedVersionError, match="MetadataVersion is too old"):
            await admin.unregister_controller(2)


async def test_the_features_of_one_node() -> None:
    """Another node is not asked; one that the cluster does not have is named."""
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for node_id in (1, 2, 3):
            assert (await admin.describe_features(node_id=node_id)).supported
            last = broker.requests[-1]
            assert (last.api_key, last.node_id) == (ApiKey.API_VERSIONS, node_id)
        with pytest.raises(BrokerNotAvailableError, match="broker 9 is not in the cluster"):
            await admin.describe_features(300, node_id=9)
        for wrong in ("1", -1, True):
            with pytest.raises(IllegalArgumentError, match=f"node_id={wrong!r}"):
                await admin.describe_features(node_id=wrong)  # type: ignore[arg-type]
