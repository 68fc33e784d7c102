"""Listeners for a running query: they commit its offsets for a group, and report its lag.

A batch's offsets are committed once the batch is done, the last one included. Spark calls listeners
with one event after the other, in the process that made them. Over Spark Connect that is the
client. A listener does not wait and does not raise: a thread does the commits.
"""

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql.streaming.listener import StreamingQueryListener

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.batch_report import SIZES, bytes_of, read_report, rows_of, seconds_of
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.spark.options.source_options import SourceOptions

logger = logging.getLogger(__name__)

_CLOSE_S: Final = 10.0


class _Listener(StreamingQueryListener):
    """Receives the events of one query, by its name or id, or of all queries."""

    def __init__(self, query: str | None) -> None:
        self._query = query

    def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802 - PySpark's

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - PySpark's
        try:
            report = read_report(event.progress.json)
            if self._query in (None, report.get("name"), report.get("id")):
                self._heard(report)
        except Exception:
            logger.warning("%r: a progress report was not understood", self, exc_info=True)

    def onQueryIdle(self, event: Any) -> None: ...  # noqa: N802 - PySpark's

    def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802 - PySpark's

    @abstractmethod
    def _heard(self, report: Mapping[str, Any]) -> None:
        """Process a report, Spark's JSON. An error is logged."""


class GroupOffsetCommitter(_Listener):
    """Commits the end offsets of each batch for a group, so that lag tools see them.

        committer = GroupOffsetCommitter({"kafka.bootstrap.servers": servers}, "orders-archive")
        spark.streams.addListener(committer)

    The commits are for information only: Spark continues from its checkpoint. The source's option
    `commitGroupId` does the same without a listener, but one batch late. It learns of a batch only
    when the next one begins.
    """

    def __init__(
        self, options: Mapping[str, str], group_id: str, *, query: str | None = None
    ) -> None:
        """`options` are the `kafka.*` options of the source.

        `query` is the name or id of one query. Without it, all queries with Kafka offsets count,
        and all must use the same brokers. Raises: KafkaConfigurationError.
        """
        super().__init__(query)
        # Nothing is subscribed to, because the offsets name their partitions.
        self._options = SourceOptions.parse({**options, "subscribePattern": ".*"}, streaming=True)
        self._group_id = group_id
        self._changed = threading.Condition()
        self._next: Offsets | None = None
        self._running: set[str] = set()
        self._is_busy = False
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self.committed = Offsets()
        """The last committed offsets."""

    def _heard(self, report: Mapping[str, Any]) -> None:
        offsets = merged_offsets(report, "endOffset")
        with self._changed:
            # A batch that was not committed yet is included in this later one.
            merged = Offsets({**(self._next or {}), **offsets})
            if self._is_closed or merged.items() <= self.committed.items():
                return
            self._next = merged
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="kafka-lite commits", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - PySpark's
        if self._query in (None, event.name, str(event.id)):
            with self._changed:
                self._running.add(str(event.runId))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - PySpark's
        with self._changed:
            self._running.discard(str(event.runId))
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                while self._next is None:
                    if self._is_closed:
                        return
                    self._changed.wait()
                offsets, self._next = self._next, None
                self._is_busy = True
            self._commit(offsets)

    def _commit(self, offsets: Offsets) -> None:
        from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - only commits need it

        try:
            Planner(self._options).commit(self._group_id, offsets)
        except Exception as error:  # noqa: BLE001 - whatever it is, the query goes on
            logger.warning(
                "committing %s for group %s: %s", offsets.to_json(), self._group_id, error
            )
        else:
            self.committed = Offsets({**self.committed, **offsets})

    def close(self, timeout_s: float = _CLOSE_S) -> bool:
        """Wait until the started queries have ended and their last offsets are committed.

        Return whether that happened within the time. After that, events are ignored. Events come
        some time after `awaitTermination()`. So close the listener before you remove it.
        """
        with self._changed:
            is_done = self._changed.wait_for(self._has_ended, timeout_s)
            self._is_closed = True
            self._changed.notify_all()
            return is_done

    def _has_ended(self) -> bool:
        return not self._running and self._next is None and not self._is_busy


@dataclass(frozen=True, slots=True, kw_only=True)
class LagReport:
    """A query's distance to the ends of its topics, at the end of a batch."""

    query: str
    """The query's name, or its id if it has no name."""
    batch: int
    lag: Mapping[TopicPartition, int]
    """By partition, how many offsets lie behind: as many records, or fewer after compaction.
    Negative if the query has read beyond the end, because the topic was made anew."""
    rows: int = 0
    """How many records the batch has read."""
    bytes: int | None = None
    """Their keys and values in bytes; None unless the query uses `observe_sizes`."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long the parts of the trigger took, by Spark's names, such as `latestOffset` and
    `addBatch`; the whole is `triggerExecution`."""

    @property
    def is_batch(self) -> bool:
        """Whether there was a batch; Spark also reports that a query is idle."""
        return "addBatch" in self.seconds

    @property
    def total(self) -> int:
        """All that lies behind. A partition that was read beyond its end counts 0."""
        return sum(max(each, 0) for each in self.lag.values())

    def __str__(self) -> str:
        behind = {tp: lag for tp, lag in sorted(self.lag.items()) if lag}
        parts = ", ".join(f"{tp.topic}-{tp.partition} {lag}" for tp, lag in behind.items())
        return f"{self.query} is {self.total} offsets behind{f': {parts}' if parts else ''}"


class LagReporter(_Listener):
    """Reports the lag after each batch to a callback, or to the log.

        spark.streams.addListener(LagReporter(lambda report: gauge.set(report.total)))

    `aiokafka_lite.spark.prometheus` has a callback for Prometheus. Spark's own reports carry no
    metrics of a Python source. From PySpark 4.2 on they carry the newest offsets. Before 4.2 this
    reports nothing.
    """

    def __init__(
        self, callback: Callable[[LagReport], object] | None = None, *, query: str | None = None
    ) -> None:
        """`query` is the name or id of one query; without it, all queries count."""
        super().__init__(query)
        self._callback = callback

    def _heard(self, report: Mapping[str, Any]) -> None:
        newest = merged_offsets(report, "latestOffset")
        if not newest:
            return
        done = merged_offsets(report, "endOffset")
        told = LagReport(
            query=str(report.get("name") or report["id"]),
            batch=int(report["batchId"]),
            lag={tp: end - done.get(tp, 0) for tp, end in newest.items()},
            rows=rows_of(report),
            bytes=bytes_of(report),
            seconds=seconds_of(report),
        )
        if self._callback is None:
            logger.info("%s", told)
        else:
            self._callback(told)


def merged_offsets(report: Mapping[str, Any], name: str) -> Offsets:
    """Return the offsets of that name of a report's sources, without other sources than Kafka."""
    found = Offsets()
    for source in report.get("sources", ()):
        try:
            found.update(Offsets.from_nested(source.get(name)))
        except ValueError:
            continue
    return found


def observe_sizes(frame: Any) -> Any:
    """Return the same rows; Spark's progress then tells the bytes of their keys and values.

    Call it with the DataFrame of a source. The progress has them in `observedMetrics`, under
    "kafka-lite sizes", and `LagReport.bytes` as well. Raises: ValueError without both columns.
    """
    from pyspark.sql.functions import expr  # noqa: PLC0415 - only the programs that ask for it

    sizes = [
        f"coalesce(octet_length({name}), 0)" for name in ("key", "value") if name in frame.columns
    ]
    if not sizes:
        raise ValueError(f"neither key nor value is among the columns {frame.columns}")
    return frame.observe(SIZES, expr(f"sum({' + '.join(sizes)})").alias("bytes"))


__all__ = [
    "GroupOffsetCommitter",
    "LagReport",
    "LagReporter",
    "merged_offsets",
    "observe_sizes",
]
