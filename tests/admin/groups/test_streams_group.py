"""A streams group is read out of the response: its topology, and the tasks of its members."""

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    GlobalStore,
    InternalTopic,
    StreamsGroupDescription,
    StreamsMemberDescription,
    StreamsTask,
    StreamsTasks,
    Subtopology,
    TopologyNode,
)
from aiokafka_lite.admin.groups.streams_group import streams_group
from aiokafka_lite.errors import GroupIdNotFound, NotCoordinatorForGroupError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages import streams_group_describe as message
from aiokafka_lite.testing.broker import EmbeddedBroker


def tasks(*partitions: int) -> list[message.TaskIds]:
    return [message.TaskIds(subtopology_id="0", partitions=list(partitions))]


def a_member() -> message.Member:
    return message.Member(
        member_id="m",
        member_epoch=4,
        client_id="c",
        client_host="/h",
        topology_epoch=2,
        process_id="p",
        user_endpoint=message.Endpoint(host="here", port=80),
        client_tags=[message.KeyValue(key="zone", value="a")],
        task_offsets=[message.TaskOffset(subtopology_id="0", partition=1, offset=7)],
        task_end_offsets=[message.TaskOffset(subtopology_id="0", partition=1, offset=9)],
        assignment=message.Assignment(active_tasks=tasks(1), standby_tasks=tasks(0)),
        target_assignment=message.Assignment(active_tasks=tasks(0, 1)),
    )


def a_topology() -> message.Topology:
    changelog = message.TopicInfo(
        name="log",
        replication_factor=3,
        topic_configs=[message.KeyValue(key="cleanup.policy", value="compact")],
    )
    part = message.Subtopology(
        subtopology_id="0",
        source_topics=["orders"],
        repartition_sink_topics=["next"],
        state_changelog_topics=[changelog],
        repartition_source_topics=[message.TopicInfo(name="again", partitions=2)],
    )
    return message.Topology(epoch=2, subtopologies=[part])


def test_the_nodes_of_a_topology() -> None:
    """What the brokers have stored of it, and why there is nothing otherwise (KIP-1331)."""
    node = message.TopologyDescriptionNode
    source = node(name="in", node_type=1, source_topics=["orders"], successors=["sum"])
    count = node(name="sum", node_type=2, stores=["sums"], successors=["out"])
    sinks = [node(name="out", node_type=3, sink_topic="totals"), node(name="any", node_type=3)]
    everything = message.TopologyDescription(
        subtopologies=[
            message.TopologyDescriptionSubtopology(
                subtopology_id="0", nodes=[source, count, *sinks]
            )
        ],
        global_stores=[message.TopologyDescriptionGlobalStore(source=source, processor=count)],
    )
    statuses = []
    for status in range(5):
        group = message.DescribedGroup(
            group_id="g",
            topology_description=everything if status == 3 else None,
            topology_description_status=status,
        )
        found = streams_group(group, 3)
        assert isinstance(found, StreamsGroupDescription)
        assert (found.topology is None) == (status != 3)
        statuses.append(found.topology_status)
        if found.topology is not None:
            read, summed, written, chosen = found.topology.nodes["0"]
            assert read == TopologyNode("in", "source", ("orders",), successors=("sum",))
            assert summed == TopologyNode("sum", "processor", stores=("sums",), successors=("out",))
            assert written == TopologyNode("out", "sink", sink_topic="totals")
            assert chosen == TopologyNode("any", "sink")
            assert found.topology.global_stores == (GlobalStore(read, summed),)
    assert statuses == ["not_requested", "not_stored", "error", "available", "error"]


def test_topology_and_tasks() -> None:
    group = message.DescribedGroup(
        group_id="g",
        group_state="Stable",
        group_epoch=5,
        assignment_epoch=4,
        topology=a_topology(),
        members=[a_member()],
        assignor_name="sticky",
    )
    found = streams_group(group, 3)
    assert isinstance(found, StreamsGroupDescription)
    assert (found.group_id, found.type, found.state) == ("g", "streams", "Stable")
    assert (found.assignor, found.coordinator, found.topology_epoch) == ("sticky", 3, 2)
    assert (found.group_epoch, found.assignment_epoch) == (5, 4)
    assert found.subtopologies == (
        Subtopology(
            "0",
            ("orders",),
            ("next",),
            (InternalTopic("again", 2, None, {}),),
            (InternalTopic("log", None, 3, {"cleanup.policy": "compact"}),),
        ),
    )
    zero, one = StreamsTask("0", 0), StreamsTask("0", 1)
    (member,) = found.members
    assert member == StreamsMemberDescription(
        member_id="m",
        group_instance_id=None,
        client_id="c",
        client_host="/h",
        assignment=frozenset({TopicPartition("orders", 1), TopicPartition("again", 1)}),
        member_epoch=4,
        target_assignment=frozenset(
            TopicPartition(topic, index) for topic in ("orders", "again") for index in (0, 1)
        ),
        process_id="p",
        topology_epoch=2,
        tasks=StreamsTasks(frozenset({one}), frozenset({zero})),
        target_tasks=StreamsTasks(frozenset({zero, one})),
        user_endpoint=("here", 80),
        client_tags={"zone": "a"},
        task_offsets={one: 7},
        task_end_offsets={one: 9},
    )


def test_a_group_that_is_not_ready() -> None:
    group = message.DescribedGroup(group_id="g", group_state="NotReady", topology=None)
    found = streams_group(group, 3)
    assert isinstance(found, StreamsGroupDescription)
    assert (found.topology_epoch, found.subtopologies, found.assignor) == (None, None, None)


def test_an_error() -> None:
    group = message.DescribedGroup(group_id="g", error_code=16, error_message="moved")
    error = streams_group(group, 3)
    assert isinstance(error, NotCoordinatorForGroupError)
    assert "group 'g': moved" in str(error)


async def test_a_group_of_another_kind_is_not_found(topic_name: str) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        await admin.alter_consumer_group_offsets(topic_name, {TopicPartition("t", 0): 1})
        found = await admin.describe_streams_groups([topic_name, "nothing"])
        assert [type(each) for each in found.values()] == [GroupIdNotFound] * 2
