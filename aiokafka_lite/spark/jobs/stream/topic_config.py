"""The keys of jobs that read topics, run as streams, or write topics, and their Spark options.

The parsers of source and sink check the options, as Spark would later. Does not wait.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.offsets import partitions_from_json
from aiokafka_lite.spark.options.given_options import duration_ms
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions

AVAILABLE_NOW: Final = "available-now"
_LAST_PORT: Final = 65_535
_SERVERS: Final = "kafka.bootstrap.servers"


@dataclass(frozen=True, kw_only=True)
class TopicsConfig(JobConfig):
    """A job that reads topics."""

    bootstrap_servers: str = ""
    """Brokers to start from: HOST:PORT,HOST:PORT,…"""
    topics: tuple[str, ...] = ()
    """The topics to read. Or give a pattern."""
    topic_pattern: str | None = None
    """All topics in which this Python regular expression is found, also later ones."""
    starting_offsets: str = "earliest"
    """Where to begin: earliest, latest, committed, or JSON by topic and partition.

    A stream with a checkpoint continues from there instead.
    """

    def source_options(self) -> dict[str, str]:
        """Return the options of the source, including those of [kafka] and [source]."""
        options = {_SERVERS: self.bootstrap_servers, "startingOffsets": self.starting_offsets}
        if self.topics:
            options["subscribe"] = ",".join(self.topics)
        if self.topic_pattern is not None:
            options["subscribePattern"] = self.topic_pattern
        return {**options, **self.with_kafka(self.source)}

    def reads(self, topic: str) -> bool:
        """Return whether the job reads a topic of this name."""
        if topic in self.topics:
            return True
        options = {name.lower(): text for name, text in self.source.items()}
        try:
            if self.topic_pattern is not None and re.search(self.topic_pattern, topic):
                return True
            assigned = partitions_from_json(options.get("assign", "{}"))
        except (re.error, ValueError):
            return False  # the source's options report these faults
        return topic in {tp.topic for tp in assigned}

    def _streams(self) -> bool:
        return False

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        yield from _said_twice("kafka", self.kafka, {"bootstrap.servers": "bootstrap_servers"})
        if not self.bootstrap_servers:
            yield "bootstrap_servers must be set: HOST:PORT,HOST:PORT,…"
        is_assigned = "assign" in {name.lower() for name in self.source}
        if (not self.topics) == (self.topic_pattern is None) and not is_assigned:
            yield "one of topics and topic_pattern must be set, and only one"
        yield from _said_twice(
            "source",
            self.source,
            {
                _SERVERS: "bootstrap_servers",
                "subscribe": "topics",
                "subscribePattern": "topic_pattern",
                "startingOffsets": "starting_offsets",
            },
        )
        if self.bootstrap_servers and (self.topics or self.topic_pattern or is_assigned):
            options = self.source_options()
            yield from _parsed(lambda: SourceOptions.parse(options, streaming=self._streams()))


@dataclass(frozen=True, kw_only=True)
class StreamConfig(TopicsConfig):
    """A job that continues where it ended, by a checkpoint."""

    checkpoint: str = ""
    """The folder in which Spark stores the job's progress. Each job needs a folder of its own."""
    trigger: str = AVAILABLE_NOW
    """available-now: read the available records and end; a scheduler starts the job again.

    A time such as 30s: run forever, with at most one batch per interval.
    """
    max_offsets_per_trigger: int | None = None
    """The most offsets of a batch."""
    metrics_port: int | None = None
    """The port at which a job of the command line serves its metrics to Prometheus; 0: any."""
    metrics_host: str = "127.0.0.1"
    """The address of this machine that it listens at; 0.0.0.0: at each."""

    def source_options(self) -> dict[str, str]:
        """Return the options of the source; its checkpoint has the ids of topics, unless [source]
        says otherwise.
        """
        options = super().source_options()
        if "topicids" not in {name.lower() for name in options}:
            options["topicIds"] = "true"
        if self.max_offsets_per_trigger is not None:
            options["maxOffsetsPerTrigger"] = str(self.max_offsets_per_trigger)
        return options

    def trigger_arguments(self) -> dict[str, object]:
        """Return the arguments of `DataStreamWriter.trigger`."""
        if self.trigger == AVAILABLE_NOW:
            return {"availableNow": True}
        return {"processingTime": f"{duration_ms(self.trigger)} milliseconds"}

    def _streams(self) -> bool:
        return True

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not self.checkpoint:
            yield "checkpoint must be set: a folder that outlives the job, and is this job's alone"
        try:
            self.trigger_arguments()
        except ValueError:
            yield f"trigger={self.trigger!r} is neither {AVAILABLE_NOW} nor a time such as 30s"
        if self.metrics_port is not None and not 0 <= self.metrics_port <= _LAST_PORT:
            yield f"metrics_port={self.metrics_port} is not a port from 0 to {_LAST_PORT}"
        names = {"maxOffsetsPerTrigger": "max_offsets_per_trigger"}
        yield from _said_twice("source", self.source, names)


@dataclass(frozen=True, kw_only=True)
class TopicSinkConfig(JobConfig):
    """A job that writes a topic; use it with `TopicsConfig` or alone."""

    topic: str | None = None
    """The topic for all records. Without it, the column `topic` names it."""
    sink_bootstrap_servers: str | None = None
    """Brokers of the topic, if they differ from those read from."""
    delivery: Literal["at-least-once", "transactional"] = "at-least-once"
    """transactional: consumers with isolation.level=read_committed see each record exactly once."""

    def sink_options(self) -> dict[str, str]:
        """Return the options of the sink, including those of [kafka] and [sink]."""
        own = self.sink_bootstrap_servers
        servers = str(getattr(self, "bootstrap_servers", "") if own is None else own)
        options = {_SERVERS: servers, "delivery": self.delivery}
        if self.topic is not None:
            options["topic"] = self.topic
        return {**options, **self.with_kafka(self.sink)}

    def targets(self) -> Mapping[str, str | None]:
        """Return the topics that the job writes, by their keys; None if rows name them."""
        return {"topic": self.topic}

    def shares_brokers(self) -> bool:
        """Return whether it reads and writes one cluster: both sides have an address in common."""
        own = self.sink_bootstrap_servers
        return own is None or not _addresses(own).isdisjoint(
            _addresses(getattr(self, "bootstrap_servers", ""))
        )

    def loops(self) -> Iterator[str]:
        """Yield a fault for each topic that a job would read and write, on one cluster."""
        if not isinstance(self, TopicsConfig):
            return
        for key, topic in self.targets().items():
            if topic is not None and self.reads(topic):
                yield (
                    f"{key}={topic!r} is one of those read, and would be read and written at once,"
                    " for ever; name another topic, or another cluster by sink_bootstrap_servers"
                )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.topic == "":
            yield "topic='' is not a topic; name one, or leave the key out"
        if self.shares_brokers():
            yield from self.loops()
        yield from _said_twice(
            "sink",
            self.sink,
            {_SERVERS: "sink_bootstrap_servers", "topic": "topic", "delivery": "delivery"},
        )
        options = self.sink_options()
        if options[_SERVERS]:
            yield from _parsed(lambda: SinkOptions.parse(options))


def _said_twice(table: str, given: Mapping[str, str], keys: Mapping[str, str]) -> Iterator[str]:
    """Yield a fault for each option of a table that has a key of its own."""
    lower = {option.lower(): key for option, key in keys.items()}
    for option in given:
        key = lower.get(option.lower())
        if key is not None:
            yield f"{table}.{option} has a key of its own: set {key} instead"


def _addresses(servers: str) -> set[str]:
    return {each.strip().lower() for each in servers.split(",") if each.strip()}


def _parsed(parse: Callable[[], object]) -> Iterator[str]:
    try:
        parse()
    except KafkaConfigurationError as error:
        yield str(error.args[0])


__all__ = ["AVAILABLE_NOW", "StreamConfig", "TopicSinkConfig", "TopicsConfig"]
