"""Assignors in the forms of other clients work, or the constructor of a consumer names them."""

import asyncio
from collections import namedtuple
from enum import IntEnum
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.assignors.duck_typed import as_assignor
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka


class Struct:
    """As kafka-python's structs: fields, and their bytes."""

    kind: Any
    names: tuple[str, ...]

    def __init__(self, *values: Any) -> None:
        vars(self).update(zip(self.names, values, strict=True))
        self._values = values

    def encode(self) -> bytes:
        encoded: bytes = self.kind(*self._values).encode()
        return encoded


class Subscription2(Struct):
    kind, names = ConsumerProtocolMemberMetadata, ("version", "subscription", "user_data")


class Subscription3(Struct):
    kind, names = ConsumerProtocolMemberMetadata, ("version", "topics", "user_data")


class Assignment(Struct):
    kind, names = ConsumerProtocolMemberAssignment, ("version", "assignment", "user_data")


Fields = namedtuple("Fields", "subscription user_data")  # noqa: PYI024 - of no type
AssignmentFields = namedtuple("AssignmentFields", "assignment user_data")  # noqa: PYI024


class Protocol3(IntEnum):
    EAGER = 0
    COOPERATIVE = 1


def dealt(cluster: Any, members: list[str], topics: set[str]) -> dict[str, list[tuple[str, Any]]]:
    assert topics <= cluster.topics()
    return {
        member_id: [(t, sorted(cluster.partitions_for_topic(t))[n :: len(members)]) for t in topics]
        for n, member_id in enumerate(sorted(members))
    }


class Of2:
    """As in kafka-python 2.2: class methods, members by id, `subscription`."""

    name = "dealer"
    told: type[Struct] = Subscription2
    given = Assignment

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        topics = {topic for told in members.values() for topic in told.subscription}
        shares = dealt(cluster, list(members), topics)
        return {member_id: cls.given(0, share, b"theirs") for member_id, share in shares.items()}

    @classmethod
    def metadata(cls, topics: Any) -> Any:
        return cls.told(0, list(topics), b"mine")

    @classmethod
    def on_assignment(cls, assignment: Any) -> None:
        HEARD.append(assignment.user_data)


class Of23(Of2):
    """As in kafka-python 2.3: `topics`, and the names of static members."""

    told = Subscription3

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        topics = {topic for told in members.values() for topic in told.topics}
        assert [told.group_instance_id for told in members.values()]
        shares = dealt(cluster, list(members), topics)
        return {member_id: cls.given(0, share, b"theirs") for member_id, share in shares.items()}


class Of3(Of23):
    """As in kafka-python 3: a list of members, a method for the protocols, a generation."""

    def supported_protocols(self) -> list[Protocol3]:
        return [Protocol3.EAGER]

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        by_id = {each.member_id: each.metadata for each in members}
        assert [each.group_instance_id for each in members]
        return super().assign(cluster, by_id)

    @classmethod
    def on_assignment(cls, assignment: Any, generation: int) -> None:  # type: ignore[override]
        assert generation >= 1
        HEARD.append(assignment.user_data)


class OfUser:
    """Of a user who knows no client: an instance, plain fields."""

    name = "dealer"

    def __init__(self, weight: int) -> None:
        self.weight = weight

    def assign(self, cluster: Any, members: Any) -> Any:
        found = Of2.assign(cluster, members)
        return {key: AssignmentFields(each.assignment, b"theirs") for key, each in found.items()}

    def metadata(self, topics: Any) -> Any:
        return Fields(list(topics), b"mine")

    def on_assignment(self, assignment: Any) -> None:
        HEARD.append(assignment.user_data)


class OfBytes(OfUser):
    """Its subscriptions and assignments are bytes already."""

    def assign(self, cluster: Any, members: Any) -> Any:
        return {key: each.encode() for key, each in Of2.assign(cluster, members).items()}

    def metadata(self, topics: Any) -> Any:
        return Of2.metadata(topics).encode()


class OfClass(Of2):
    """Cannot be made, and need not be: aiokafka calls the methods of the class."""

    def __init__(self, weight: int) -> None: ...


HEARD: list[bytes] = []
FORMS = [Of2, Of23, Of3, OfUser(1), OfBytes(1), OfClass, Of2()]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: getattr(form, "__name__", repr(form))[:60])
def test_an_assignor_of_another_client_shares_a_group(form: Any) -> None:
    async def main(kafka: VirtualKafka) -> None:
        HEARD.clear()
        kafka.broker.create_topic("t", 4)
        options = {"partition_assignment_strategy": [form], **kafka.client_options}
        async with (
            AIOKafkaConsumer("t", group_id="g", **options) as first,
            AIOKafkaConsumer("t", group_id="g", **options) as second,
        ):
            await asyncio.sleep(10)
            shares = [{tp.partition for tp in each.assignment()} for each in (first, second)]
            assert sorted(map(sorted, shares)) == [[0, 2], [1, 3]]
            assert {*HEARD} == {b"theirs"}
            assert all(isinstance(each, bytes) for each in HEARD)

    run_virtual_kafka(main)


class NoSubscription(Of2):
    @classmethod
    def metadata(cls, topics: Any) -> Any:
        return object()


class Fails(Of2):
    @classmethod
    def metadata(cls, topics: Any) -> Any:
        raise LookupError("no rack")


class NoTopics(Of2):
    @classmethod
    def metadata(cls) -> Any:  # type: ignore[override]
        return Of2.metadata([])


class NoMembers(Of2):
    @classmethod
    def assign(cls, cluster: Any) -> Any:  # type: ignore[override]
        return {}


class HearsNothing(Of2):
    @classmethod
    def on_assignment(cls) -> None:  # type: ignore[override]
        pass


class OtherProtocol(Of2):
    supported_protocols = ("optimistic",)


class Raises(Of2):
    def __init__(self) -> None:
        raise LookupError("no rack")

    def assign(self, cluster: Any, members: Any) -> Any:  # type: ignore[override]
        return {}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (NoSubscription, r"metadata\(\) does not work: TypeError"),
        (Fails, r"metadata\(\) does not work: LookupError"),
        (NoTopics, r"metadata\(\) does not take"),
        (NoMembers, r"assign\(\) does not take"),
        (HearsNothing, r"on_assignment\(\) does not take"),
        (OtherProtocol, "supported_protocols are not known"),
        (Raises, "cannot be made without arguments"),
        (object(), "it lacks name, assign, metadata, on_assignment"),
    ],
)
def test_what_is_nearly_an_assignor_is_refused_by_the_constructor(form: Any, why: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=why) as caught:
        AIOKafkaConsumer("t", group_id="g", partition_assignment_strategy=[form])
    assert len(str(caught.value).splitlines()) == 1


def test_protocols_are_taken_by_their_names() -> None:
    class Cooperates(Of3):
        def supported_protocols(self) -> list[Protocol3]:
            return [Protocol3.COOPERATIVE, Protocol3.EAGER]

    protocols = as_assignor(Cooperates).supported_protocols
    assert protocols == (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)
    assert as_assignor(Of2).supported_protocols == (RebalanceProtocol.EAGER,)


async def test_an_assignor_that_fails_later_is_named() -> None:
    class FailsLater(Of2):
        @classmethod
        def assign(cls, cluster: Any, members: Any) -> Any:
            return dict.fromkeys(members, object())

    async with EmbeddedBroker() as broker:
        broker.create_topic("t", 1)
        consumer = AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            partition_assignment_strategy=[FailsLater],
        )
        with pytest.raises(Exception, match="the assignor 'dealer' raised TypeError"):
            await consumer.start()
