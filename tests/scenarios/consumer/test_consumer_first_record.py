"""What a consumer asks between its start and its first record, and how many round trips that takes.

DESIGN.md has the same sequence. A request or a wait more makes every start of a program slower.
"""

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

PARTITIONS = 16
ROUND_TRIP_S = 0.010
PLACES = [TopicPartition("words", number) for number in range(PARTITIONS)]


async def first_record(kafka: VirtualKafka, consumer: AIOKafkaConsumer) -> tuple[list[str], float]:
    """Return the names of the requests up to the first record, and the round trips it took."""
    producer = AIOKafkaProducer(**kafka.client_options)
    async with producer:
        for place in PLACES:
            await producer.send(place.topic, b"word", partition=place.partition)
    kafka.broker.forget_requests()
    kafka.network.latency_s = ROUND_TRIP_S / 2
    began_s = kafka.clock.monotonic()
    await consumer.start()
    await consumer.getone()
    round_trips = (kafka.clock.monotonic() - began_s) / ROUND_TRIP_S
    asked = [type(each.request).__name__.removesuffix("Request") for each in kafka.broker.requests]
    kafka.network.latency_s = 0.0
    await consumer.stop()
    return asked, round(round_trips, 1)


def test_assigned_partitions_have_a_record_after_five_requests() -> None:
    """The seed is the leader. Its connection is kept; that for fetches is made meanwhile."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", PARTITIONS)
        consumer = AIOKafkaConsumer(auto_offset_reset="earliest", **kafka.client_options)
        consumer.assign(PLACES)
        asked, round_trips = await first_record(kafka, consumer)
        assert asked == [
            *("ApiVersions", "Metadata"),
            *("ListOffsets", "ApiVersions"),
            "Fetch",
        ]
        assert round_trips == 6  # a connection takes one, too

    run_virtual_kafka(main)


def test_the_only_member_of_a_new_group_has_a_record_after_eleven_requests() -> None:
    """The member joins twice, because a broker first gives it its id (KIP-394)."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", PARTITIONS)
        consumer = AIOKafkaConsumer(
            "words", group_id="readers", auto_offset_reset="earliest", **kafka.client_options
        )
        asked, round_trips = await first_record(kafka, consumer)
        assert asked == [
            *("ApiVersions", "Metadata"),
            "FindCoordinator",
            *("ApiVersions", "JoinGroup", "JoinGroup", "SyncGroup"),
            *("OffsetFetch", "ApiVersions", "ListOffsets"),
            "Fetch",
        ]
        assert round_trips == 12

    run_virtual_kafka(main)
