"""A consumer group as data: its state follows from the epochs, its view shows it."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from tests.testing.broker.state.groups.served_consumers import ServedConsumers


def test_the_state_follows_from_the_epochs() -> None:
    served = ServedConsumers()
    states = [served.group.state]
    served.join("a")
    states.append(served.group.state)
    served.join("b")
    states.append(served.group.state)
    served.beat("b", member_epoch=-1)
    states.append(served.group.state)
    assert states == [
        GroupState.EMPTY,
        GroupState.STABLE,
        GroupState.RECONCILING,
        GroupState.ASSIGNING,
    ]
    assert repr(served.group) == "<ModernGroup g Assigning epoch 4 1 members>"


def test_the_view_shows_what_members_may_have() -> None:
    served = ServedConsumers()
    served.join("a", instance_id="i")
    view = served.bench.groups.view("g")
    member = view.members["a"]
    assert (view.state, view.generation_id, view.protocol) == (GroupState.STABLE, 2, "uniform")
    assert (view.protocol_type, view.leader, view.coordinator) == ("consumer", None, 1)
    assert (member.group_instance_id, member.epoch, member.metadata) == ("i", 2, b"")
    assert member.partitions() == [TopicPartition("t", index) for index in range(4)]


def test_most_votes_decide_the_assignor() -> None:
    served = ServedConsumers(group_consumer_assignors=["range", "uniform"])
    served.join("a")
    assert served.group.assignor == "range"
    served.join("b", server_assignor="uniform")
    assert served.group.assignor == "uniform"
    served.beat("b", member_epoch=-1)
    assert served.group.assignor == "range"
