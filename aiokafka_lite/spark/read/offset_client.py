"""Asks for partitions and their offsets, and nothing else.

The process that plans a stream lives as long as the stream, and does little more than this. A
consumer would cost it a tenth of a second of CPU at its start, for parts that it never uses.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.consumer_arguments import checked_timestamps
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.listed_topics import ids_in, list_topics, names_in, partitions_in
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.offset_lister import OffsetLister
from aiokafka_lite.model import OffsetAndTimestamp, OffsetSpec, TopicPartition
from aiokafka_lite.spark.offsets import Offsets, id_text


class OffsetClient:
    """Takes the arguments of a consumer, and has those of its methods that ask for offsets."""

    def __init__(self, **arguments: Any) -> None:
        self._config = ConsumerConfig(**arguments)
        self.kafka_client = KafkaClient(
            self._config,
            name=f"offset_client {self._config.client_id}",
            allow_auto_topic_creation=False,
        )
        signal = PollSignal(self.kafka_client.clock)
        self.kafka_client.metadata.add_listener(lambda _snapshot: signal.notify())
        self._lister = OffsetLister(self._config, self.kafka_client, signal)
        self._timeout_s = self._config.default_api_timeout_ms / 1000
        self.topic_ids: dict[str, str] = {}
        """By name, the ids that the last lists of partitions have told, as Kafka writes them."""

    async def start(self) -> None:
        """Connect. Raises: as `KafkaClient.start`."""
        await self.kafka_client.start()

    async def stop(self) -> None:
        """Close everything. Idempotent."""
        await self.kafka_client.close()

    async def topics(self) -> set[str]:
        """As `AIOKafkaConsumer.topics`."""
        listed = await list_topics(self.kafka_client, None, self._timeout_s)
        return names_in(listed, exclude_internal=self._config.exclude_internal_topics)

    async def list_partitions(self, *topics: str) -> dict[str, set[int]]:
        """As `AIOKafkaConsumer.list_partitions`."""
        listed = await list_topics(self.kafka_client, topics, self._timeout_s)
        found = partitions_in(listed)
        self.topic_ids.update({name: id_text(each) for name, each in ids_in(listed).items()})
        return found

    async def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """As `AIOKafkaConsumer.beginning_offsets`, with the leader epochs."""
        return await self._at_end(partitions, OffsetSpec.EARLIEST)

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """As `AIOKafkaConsumer.end_offsets`, with the leader epochs."""
        return await self._at_end(partitions, OffsetSpec.LATEST)

    async def _at_end(self, partitions: Iterable[TopicPartition], end: int) -> Offsets:
        asked = dict.fromkeys(partitions, end)
        if not asked:
            return Offsets()
        listed = await self._lister.list_offsets(asked, self._timeout_s)
        found = Offsets({tp: answer.offset for tp, answer in listed.items()})
        return found.of_logs({}, {tp: answer.leader_epoch for tp, answer in listed.items()})

    async def epoch_ends(
        self, epochs: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int | None]:
        """Return the offset behind each leader epoch; None in a log that knows no such epoch.

        Raises: as `epoch_lister.epoch_ends`; so it returns.
        """
        # Most streams see no new leader.
        from aiokafka_lite.consumer.position.epoch_lister import epoch_ends  # noqa: PLC0415

        found = await epoch_ends(self.kafka_client, epochs, self._timeout_s)
        return {tp: each.end_offset if each.is_defined else None for tp, each in found.items()}

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """As `AIOKafkaConsumer.offsets_for_times`."""
        checked = checked_timestamps(timestamps)
        if not checked:
            return {}
        listed = await self._lister.list_offsets(checked, self._timeout_s)
        return {
            tp: None if found.offset < 0 else OffsetAndTimestamp(found.offset, found.timestamp)
            for tp, found in listed.items()
        }


__all__ = ["OffsetClient"]
