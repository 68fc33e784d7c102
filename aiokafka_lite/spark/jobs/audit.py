"""The job `audit`: what topics hold, what is missing there and in their archive, and the lags.

It only reads. The lags are those of a checkpoint and of a consumer group. The job compares offsets,
not records. A gap in a topic is not a fault by itself. Compaction removes records, each transaction
leaves a marker, and read_committed hides aborted records. An archived record that the log has lost
is reported as compacted. With `transactions`, aborted records are counted. A gap in both log and
archive may have any of these causes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.archive import read_archive
from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.offset_levels import COUNTS, counted
from aiokafka_lite.spark.jobs.stream.checkpoint import done_offsets
from aiokafka_lite.spark.jobs.stream.topic_config import TopicsConfig
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place, SourceOptions

_ISOLATION: Final = "kafka.isolation.level"
_COMMITTED: Final = "read_committed"
_UNCOMMITTED: Final = "read_uncommitted"
_OFFSETS: Final = ("topic", "partition", "offset")
_OF_ARCHIVE: Final = (
    *("archived", "duplicates", "missing", "pending", "compacted", "expired", "unknown", "beyond"),
)
HOLES_ARE_NO_FAULT: Final = (
    "holes are records that compaction removed, markers of transactions (one offset each) and, for"
    " read_committed, records of aborted transactions"
)


@dataclass(frozen=True, kw_only=True)
class AuditConfig(TopicsConfig):
    """The keys of `audit`."""

    archive: str | None = None
    """The folder of the topics' archive, for the comparison."""
    checkpoint: str | None = None
    """The checkpoint of a stream on the topics, for its lag. By default the archive's."""
    group: str | None = None
    """A consumer group, for its lag."""
    scan: bool = True
    """Read the offsets of all records. Without it the job reads only ends and lags."""
    transactions: bool = False
    """Count the records of aborted transactions, by reading the topics a second time."""
    max_lag: int | None = None
    """The largest lag of checkpoint or group, summed over all partitions, that is not a problem."""

    def __post_init__(self) -> None:
        if self.archive and not self.checkpoint:
            object.__setattr__(self, "checkpoint", f"{self.archive.rstrip('/')}/_checkpoint")
        super().__post_init__()

    @property
    def reads_committed(self) -> bool:
        """Whether the records of aborted transactions do not count."""
        given = {name.lower(): value for name, value in self.source_options().items()}
        return given.get(_ISOLATION) == _COMMITTED

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in ("archive", "transactions"):
            if getattr(self, name) and not self.scan:
                yield f"scan=false leaves nothing to do for {name}; set scan, or leave {name} out"
        if self.max_lag is not None and self.max_lag < 0:
            yield f"max_lag={self.max_lag} must be at least 0"
        if self.max_lag is not None and not (self.checkpoint or self.group):
            yield f"max_lag={self.max_lag} needs checkpoint or group, whose lag it is"


# The state at brokers, checkpoint and group…


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The offsets of the topics at one moment; everything else is compared with them."""

    start: Offsets
    end: Offsets
    decided: Offsets
    """As `end`, without records of transactions that have not ended."""
    checkpoint: Offsets | None = None
    """None without a checkpoint, or without a batch in it."""
    group: Offsets | None = None


def find_bounds(spark: Any, config: AuditConfig) -> Bounds:
    """Return the present offsets. Raises: as `Planner.resolve`."""
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - the clients, only when asked

    options = SourceOptions.parse(config.source_options(), streaming=False)
    planner = Planner(options)
    start = Offsets(planner.resolve(options.starting, is_start=True))
    end = Offsets(planner.resolve(OffsetLimit(place=Place.LATEST), is_start=False))
    committed = SourceOptions.parse(_isolated(config, _COMMITTED), streaming=False)
    # Records that were decided or written after the first question for the ends are ignored.
    decided = {tp: min(at, end[tp]) for tp, at in Planner(committed).latest().items() if tp in end}
    return Bounds(
        start=start,
        end=end,
        decided=Offsets(decided),
        checkpoint=done_offsets(spark, config.checkpoint) if config.checkpoint else None,
        group=planner.committed(config.group, end) if config.group else None,
    )


def _isolated(config: AuditConfig, level: str) -> dict[str, str]:
    options = {k: v for k, v in config.source_options().items() if k.lower() != _ISOLATION}
    return {**options, _ISOLATION: level}


# What the records show…


def plan(spark: Any, config: AuditConfig) -> Any:
    """Return a row of counts for each partition at this moment. It asks the brokers for offsets."""
    return counts(spark, config, find_bounds(spark, config))


def counts(spark: Any, config: AuditConfig, bounds: Bounds) -> Any:
    """Return a row of `COUNTS` for each partition that has records in the topic or the archive."""
    ranges = {
        "gone": {tp: (0, at) for tp, at in bounds.start.items()},
        "inside": {tp: (bounds.start.get(tp, at), at) for tp, at in bounds.end.items()},
        "decided": {tp: (0, at) for tp, at in bounds.decided.items()},
        "due": {tp: (0, at) for tp, at in (bounds.checkpoint or {}).items() if tp in bounds.end},
    }
    sets = [
        (_records(spark, config, bounds, isolation), names)
        for isolation, names in scans(config).items()
    ]
    if config.archive:
        rows = read_archive(spark, config.archive, *_OFFSETS)
        mine = rows.where(rows.topic.isin(sorted({tp.topic for tp in bounds.end})))
        sets.append((mine, ["archived"]))
    return counted(spark, ranges, sets)


def scans(config: AuditConfig) -> Mapping[str, Sequence[str]]:
    """Return, by isolation level, which levels of offsets a read of the topics yields."""
    own, other = _UNCOMMITTED, _COMMITTED
    if config.reads_committed:
        own, other = other, own
    if not config.scan:
        return {}
    if not config.transactions:
        return {own: ["written", "committed", "expected"]}
    names = {_UNCOMMITTED: "written", _COMMITTED: "committed"}
    return {own: [names[own], "expected"], other: [names[other]]}


def _records(spark: Any, config: AuditConfig, bounds: Bounds, isolation: str) -> Any:
    """Return the offsets of a topic's records up to the bounds."""
    ends = bounds.decided if isolation == _COMMITTED else bounds.end
    # A partition without a decided record would end before it starts.
    end = {tp: max(at, bounds.start[tp]) for tp, at in ends.items() if tp in bounds.start}
    given = _isolated(config, isolation)
    options = {
        # Timestamp options would override the offsets that were made of them.
        **{k: v for k, v in given.items() if not k.lower().startswith(("starting", "ending"))},
        "startingOffsets": bounds.start.to_json(),
        "endingOffsets": Offsets(end).to_json(),
    }
    reader = spark.read.format("kafka-lite").schema("topic string, partition int, offset bigint")
    return reader.options(**options).load()


# The report…


def run(spark: Any, config: AuditConfig, *, stop: StopSignal, progress: Progress) -> JobResult:  # noqa: ARG001 - it is one batch
    """Count, compare and report. Problems are findings that a person has to check.

    Raises: as `Planner.resolve`, or Spark's errors.
    """
    begin_s = SYSTEM_CLOCK.monotonic()
    bounds = find_bounds(spark, config)
    found: dict[TopicPartition, Mapping[str, Any]] = {}
    if config.scan:
        for row in counts(spark, config, bounds).collect():
            found[TopicPartition(row["topic"], row["partition"])] = row.asDict()
    partitions = [describe(tp, config, bounds, found.get(tp)) for tp in sorted(bounds.end)]
    progress.note("\n" + table(partitions))
    lags = {name: _total(partitions, name) for name in ("lag", "group_lag")}
    has_holes = any(each.get("holes") for each in partitions)
    return JobResult(
        job=JOB.name,
        rows=_total(partitions, "records") or 0,
        batches=1,
        offsets=bounds.end.to_nested(),
        lag=lags["group_lag"] if lags["lag"] is None else lags["lag"],
        seconds=round(SYSTEM_CLOCK.monotonic() - begin_s, 3),
        facts={
            "partitions": partitions,
            "notes": [HOLES_ARE_NO_FAULT] if has_holes else [],
        },
        problems=tuple(problems(partitions, config, lags)),
    )


def describe(
    tp: TopicPartition, config: AuditConfig, bounds: Bounds, found: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the findings for a partition, without those that were not requested."""
    start, end = bounds.start.get(tp, bounds.end[tp]), bounds.end[tp]
    said: dict[str, Any] = {"topic": tp.topic, "partition": tp.partition, "start": start}
    said["end"] = end
    if bounds.decided.get(tp, end) < end:
        said["undecided"] = end - max(bounds.decided[tp], start)
    if config.scan:
        names = [each for each in COUNTS if each not in _OF_ARCHIVE and each != "aborted"]
        names += ["aborted"] if config.transactions else []
        names += _OF_ARCHIVE if config.archive else []
        said |= {name: (found or {}).get(name, 0) for name in names}
        for name in ("first_missing", "first_duplicate"):
            if found is not None and config.archive and found[name] is not None:
                said[name] = found[name]
    if config.checkpoint:
        at = None if bounds.checkpoint is None else bounds.checkpoint.get(tp)
        said |= {"checkpoint": at, "lag": end - (start if at is None else at)}
    if bounds.group is not None:
        at = bounds.group.get(tp)
        said |= {"group": at, "group_lag": end - (start if at is None else at)}
    return said


def _total(partitions: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """Return a sum over partitions; None if it was not requested. A negative value counts as 0."""
    found = [max(each[name], 0) for each in partitions if name in each]
    return sum(found) if found else None


def problems(
    partitions: Sequence[Mapping[str, Any]],
    config: AuditConfig,
    lags: Mapping[str, int | None],
) -> Iterator[str]:
    """Yield a sentence for each actual or possible problem."""
    for each in partitions:
        name = f"{each['topic']}-{each['partition']}"
        if each.get("missing"):
            yield (
                f"{name}: {each['missing']:,} records are not in the archive, the first at"
                f" offset {each['first_missing']}"
            )
        if each.get("duplicates"):
            yield (
                f"{name}: {each['duplicates']:,} records are in the archive again, the first"
                f" at offset {each['first_duplicate']}; is it read without Spark, or written"
                " by two jobs?"
            )
        if each.get("beyond"):
            yield (
                f"{name}: the archive has {each['beyond']:,} records behind the end of the log,"
                f" {each['end']}: was the topic deleted and created again?"
            )
        for who in ("checkpoint", "group"):
            yield from _place_problems(name, who, each)
    for who, lag in lags.items():
        if config.max_lag is not None and lag is not None and lag > config.max_lag:
            of = "group" if who == "group_lag" else "checkpoint"
            yield f"the {of} is {lag:,} offsets behind, more than max_lag={config.max_lag}"


def _place_problems(name: str, who: str, each: Mapping[str, Any]) -> Iterator[str]:
    at = each.get(who)
    if at is None:
        return
    if at < each["start"]:
        yield (
            f"{name}: the {who} is at {at}, and the log begins at {each['start']}:"
            f" {each['start'] - at:,} offsets were deleted before they were read"
        )
    if at > each["end"]:
        yield (
            f"{name}: the {who} is at {at}, behind the end of the log, {each['end']}: was the topic"
            " deleted and created again?"
        )


def table(partitions: Sequence[Mapping[str, Any]]) -> str:
    """Return the partitions as a table for people, without columns that are all 0."""
    always = ("topic", "partition", "start", "end", "records", "missing", "lag", "group_lag")
    names = dict.fromkeys(name for each in partitions for name in each)
    shown = [name for name in names if name in always or any(each.get(name) for each in partitions)]
    rows = [shown, *([_cell(each.get(name)) for name in shown] for each in partitions)]
    widths = [max(len(row[number]) for row in rows) for number in range(len(shown))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


def dry_offsets(spark: Any, config: AuditConfig) -> dict[str, Any]:
    """Return what a run would read. It only reads, too."""
    bounds = find_bounds(spark, config)
    return {"start": bounds.start.to_nested(), "end": bounds.end.to_nested()}


JOB: Final = Job(name="audit", config=AuditConfig, plan=plan, run=run, offsets=dry_offsets)

__all__ = [
    "HOLES_ARE_NO_FAULT",
    "JOB",
    "AuditConfig",
    "Bounds",
    "counts",
    "describe",
    "dry_offsets",
    "find_bounds",
    "plan",
    "problems",
    "run",
    "scans",
    "table",
]
