"""Owns asking the leaders for offsets that a call names.

Needs neither a subscription nor a poll, so that a program that asks for offsets alone imports no
more than this. Source: 2c-7, OffsetFetcher.
"""

import math
from collections.abc import Collection, Mapping
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.refresh_failures import refused_topics, why_leaderless
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.offset_questions import (
    ListedOffset,
    ListOffsetsOutcome,
    OffsetQuestion,
    build_request,
    group_by_leader,
    read_response,
)
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsRequest,
    lowest_version,
    unknown_spec_error,
)

_Questions = Mapping[TopicPartition, OffsetQuestion]


async def ask_leader(
    client: KafkaClient, config: ConsumerConfig, node_id: int, questions: _Questions
) -> ListOffsetsOutcome:
    """Ask one node, once. Raises: as `NetworkClient.request`."""
    request = build_request(
        questions, read_committed=config.is_read_committed, timeout_ms=config.request_timeout_ms
    )
    return read_response(await client.network.request(node_id, request), questions)


class OffsetLister:
    """Lists offsets for the user."""

    def __init__(self, config: ConsumerConfig, client: KafkaClient, signal: PollSignal) -> None:
        """`signal` is notified of new metadata."""
        self._config = config
        self._client = client
        self._signal = signal

    async def list_offsets(
        self, timestamps: Mapping[TopicPartition, int], timeout_s: float
    ) -> dict[TopicPartition, ListedOffset]:
        """Return the offset of each partition at its time (ms since 1970), or of its OffsetSpec.

        Partitions need not be assigned.
        Raises: KafkaTimeoutError after `timeout_s`, with the missing partitions and the reasons;
        also after `request_timeout_ms` for a partition that does not exist;
        TopicAuthorizationFailedError; UnsupportedVersionError for an OffsetSpec that a leader does
        not know. Cancelled: nothing stays behind.
        """
        for topic in {tp.topic for tp in timestamps}:
            self._client.metadata.add_topic(topic)
        found: dict[TopicPartition, ListedOffset] = {}
        missing = dict(timestamps)
        reasons: dict[TopicPartition, str] = {}
        attempts = 0
        before = self._client.metadata.snapshot.version  # its errors may be out of date
        unknown_s = min(timeout_s, self._config.request_timeout_ms / 1000)
        unknown_until_s = self._client.clock.monotonic() + unknown_s
        try:
            with self._client.waits.of(
                "the leaders to answer ListOffsets",
                "check that the partitions exist and have a leader, and their nodes",
                lambda: _listed(missing, reasons),
            ):
                async with deadline(self._client.clock, timeout_s):
                    while True:
                        asked = await self._ask_leaders(missing, reasons)
                        found.update(asked)
                        for tp in asked:
                            del missing[tp]
                        if not missing:
                            return {tp: found[tp] for tp in timestamps}
                        self._raise_for_refused(missing, before)
                        self._client.metadata.request_update()
                        until_s = self._client.clock.monotonic() + self._client.retry_backoff.delay(
                            attempts
                        )
                        attempts += 1
                        await self._wait_until(min(until_s, unknown_until_s), tuple(missing))
                        if self._client.clock.monotonic() >= unknown_until_s:
                            unknown_until_s = math.inf
                            self._raise_for_unknown(missing, reasons, unknown_s)
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            raise KafkaTimeoutError(
                f"no offsets within {timeout_s:g} s of {_listed(missing, reasons)}; check that the "
                f"partitions exist and have a leader, or raise default_api_timeout_ms"
            ) from error

    async def _check_version(self, node_id: int, questions: _Questions) -> None:
        """Raise UnsupportedVersionError for an OffsetSpec that the node does not know."""
        tp = max(questions, key=lambda each: lowest_version(questions[each].timestamp))
        spec = questions[tp].timestamp
        if not lowest_version(spec):
            return
        network = self._client.network
        await network.connect(node_id)
        version = network.max_version(node_id, ListOffsetsRequest)
        if version is None or version < lowest_version(spec):
            raise unknown_spec_error(tp, spec, node_id, version)

    def _raise_for_refused(self, missing: Collection[TopicPartition], before: int) -> None:
        """Raise the error of topics that metadata newer than version `before` refuses for good."""
        snapshot = self._client.metadata.snapshot
        if snapshot.version == before:
            return
        refusal = refused_topics((tp.topic for tp in missing), snapshot)
        if refusal is not None:
            raise refusal

    def _raise_for_unknown(
        self,
        missing: Collection[TopicPartition],
        reasons: Mapping[TopicPartition, str],
        waited_s: float,
    ) -> None:
        """Raise KafkaTimeoutError if the metadata does not know some of the partitions."""
        snapshot = self._client.metadata.snapshot
        unknown = [
            tp
            for tp in missing
            if tp.topic in snapshot.topics and tp.partition not in snapshot.partition_ids(tp.topic)
        ]
        if unknown:
            raise KafkaTimeoutError(
                f"{_listed(unknown, reasons)} does not exist after {waited_s:g} s; check the name "
                f"of the topic and the number, or raise request_timeout_ms"
            )

    async def _wait_until(self, until_s: float, missing: tuple[TopicPartition, ...]) -> None:
        """Wait until the backoff ends, or, if no leader was known, until one is known."""
        clock = self._client.clock
        snapshot = self._client.metadata.snapshot
        had_leaders = any(snapshot.leader(tp).node_id is not None for tp in missing)
        while clock.monotonic() < until_s:
            await self._signal.wait(until_s)
            snapshot = self._client.metadata.snapshot
            if not had_leaders and any(snapshot.leader(tp).node_id is not None for tp in missing):
                return

    async def _ask_leaders(
        self, timestamps: Mapping[TopicPartition, int], reasons: dict[TopicPartition, str]
    ) -> dict[TopicPartition, ListedOffset]:
        """Ask every leader once, all at the same time. `reasons` gets the failures."""
        asked = group_by_leader(timestamps.items(), self._client.metadata.snapshot)
        for tp in asked.leaderless:
            reasons[tp] = why_leaderless(tp, self._client.metadata.snapshot)
        found: dict[TopicPartition, ListedOffset] = {}
        refused: list[KafkaError] = []

        async def ask(node_id: int, questions: _Questions) -> None:
            try:
                await self._check_version(node_id, questions)
                outcome = await ask_leader(self._client, self._config, node_id, questions)
            except KafkaError as error:
                reasons.update(dict.fromkeys(questions, str(error)))
                if not error.retriable:
                    refused.append(error)
                return
            found.update(outcome.offsets)
            for tp, listed in outcome.offsets.items():
                self._client.metadata.note_leader_epoch(tp, listed.leader_epoch)
            found.update(dict.fromkeys(outcome.unanswerable, ListedOffset(-1, -1, -1)))
            reasons.update({tp: error.message for tp, error in outcome.to_retry.items()})
            refused.extend(outcome.refused.values())

        await side_by_side(partial(ask, *each) for each in asked.by_node.items())
        if refused:
            raise refused[0]
        return found


def _listed(partitions: Collection[TopicPartition], reasons: Mapping[TopicPartition, str]) -> str:
    return ", ".join(
        f"{tp.topic}-{tp.partition} ({reasons.get(tp, 'no answer')})" for tp in partitions
    )


__all__ = ["OffsetLister", "ask_leader"]
