"""Owns what is known of failed metadata refreshes, and what users read of them in logs and errors.
Does not wait.
"""

import logging
from collections.abc import Iterable
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.long_waits import Sparing
from aiokafka_lite.errors import (
    BrokerResponseError,
    KafkaError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)


class RefreshFailures:
    """The failures of one client since the last refresh that succeeded."""

    def __init__(self, client_id: str) -> None:
        self.last_error: KafkaError | None = None
        """Why the last refresh failed; None: it succeeded."""
        self.is_outage_told = False
        """Whether the observer was told that no broker can be reached."""
        self._client_id = client_id
        self._sparing = Sparing()
        self._is_told = False
        self._since_s: float | None = None

    def note(self, error: KafkaError, now_s: float, *, is_closing: bool) -> None:
        """Note a failure, and log it.

        There is one warning a minute for each class of error, instead of one per attempt or per
        outage: brokers may flap. With `is_closing` there is none.
        """
        if self._since_s is None:
            self._since_s = now_s
        level = logging.DEBUG if is_closing else self._sparing.level(type(error), now_s)
        self._is_told = self._is_told or level == logging.WARNING
        self.last_error = error
        logger.log(level, "%s: %s", self._client_id, self.sentence(now_s))

    def sentence(self, now_s: float) -> str:
        """Return what the log says of the failures, for `explain()`; "" if there are none."""
        if self.last_error is None or self._since_s is None:
            return ""
        lasting_s = now_s - self._since_s
        lasting = f" for {lasting_s:.0f} s" if lasting_s >= 1 else ""
        reason = reason_of(self.last_error)
        return f"metadata refresh failed{lasting}, it goes on trying: {reason}"

    def ended(self) -> None:
        """Note that a refresh has succeeded."""
        if self.last_error is not None:
            level = logging.INFO if self._is_told else logging.DEBUG
            logger.log(level, "%s: metadata is up to date again", self._client_id)
            self.last_error = None
            self._since_s = None
            self.is_outage_told = self._is_told = False

    def because(self) -> str:
        """Return the end of an error's text: the last failure, if there is one."""
        return "" if self.last_error is None else f"; last failure: {reason_of(self.last_error)}"

    def of_topic(
        self, topic: str, error: type[BrokerResponseError] | None, timeout_s: float
    ) -> KafkaError:
        """Return the error of a call that has waited `timeout_s` for a topic's partitions.

        `error`: what the brokers last said of the topic.
        """
        timeout_s = round(timeout_s, 3)  # what was left of the caller's own
        if error is None:
            return KafkaTimeoutError(
                f"no metadata of topic {quoted(topic)} within {timeout_s:g} s{self.because()}; "
                "check the connection to the brokers or raise the timeout"
            )
        sentence = (
            f"topic {quoted(topic)} has no partitions after {timeout_s:g} s; the broker's last "
            f"answer: {text_of(error)}; create the topic, or check its name and whether the "
            "brokers may create topics"
        )
        if error is UnknownTopicOrPartitionError:
            return UnknownTopicOrPartitionError(sentence)
        return KafkaTimeoutError(sentence)


_INVALID_REPLICATION_FACTOR: Final = 38  # its class is loaded when it is met


def is_refusal(said: type[BrokerResponseError] | None) -> bool:
    """Return whether asking again for a topic that has this error does not help.

    A broker with ZooKeeper that has just started knows no topic yet, and tries to create those that
    are asked for. The cluster then has too few brokers for their replicas. Java's client waits,
    too.
    """
    return said is not None and not said.retriable and said.errno != _INVALID_REPLICATION_FACTOR


def refused_topics(topics: Iterable[str], snapshot: MetadataSnapshot) -> BrokerResponseError | None:
    """Return the error of topics for which asking again does not help, with all their names.

    None: there is no such topic. A topic with another error is not named.
    """
    kind: type[BrokerResponseError] | None = None
    names: list[str] = []
    for topic in sorted(set(topics)):
        said = snapshot.topic_error(topic)
        if said is not None and is_refusal(said) and kind in (None, said):
            kind = said
            names.append(repr(topic))
    if kind is None:
        return None
    return kind(f"topic {', '.join(names)}: {text_of(kind)}")


def why_leaderless(tp: TopicPartition, snapshot: MetadataSnapshot) -> str:
    """Return why a partition has no leader, as far as the metadata tells."""
    if tp.topic not in snapshot.topics:
        return "no broker has described the topic yet"
    said = snapshot.topic_error(tp.topic)
    if said is not None:
        return text_of(said)
    if tp.partition not in snapshot.partition_ids(tp.topic):
        count = len(snapshot.partition_ids(tp.topic))
        return f"the topic has {count} partitions, numbered from 0"
    return "it has no leader"


def text_of(error: type[BrokerResponseError]) -> str:
    """Return how errors and logs name what a broker said."""
    return f"{error.message} ({error.description})"


__all__ = ["RefreshFailures", "is_refusal", "refused_topics", "text_of", "why_leaderless"]
