"""`aiokafka-lite consume`: records of topics on stdout, by pattern or as JSON lines."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from aiokafka_lite.admin.topics import TopicDescription, describe_topics
from aiokafka_lite.cli.command import DEFAULT_BOOTSTRAP, Bootstrap, exit_codes, run
from aiokafka_lite.cli.record_format import DEFAULT_FORMAT, Formatter, Record, parse_format, to_json
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition

POLL_TIMEOUT_MS = 500


@dataclass(frozen=True, slots=True)
class StartOffset:
    """Where reading starts: `start`, `end`, an offset, or a number of records from an end."""

    anchor: str
    distance: int

    def resolve(self, beginning: int, end: int) -> int:
        """Return the offset to read first, limited to the offsets in the partition."""
        wanted = {"start": beginning, "end": end, "zero": 0}[self.anchor] + self.distance
        return min(max(wanted, beginning), end)


def parse_offset(text: str) -> StartOffset:
    """Parse `start` (`beginning`, `earliest`), `end` (`latest`), `N`, `-N` or `+N`.

    `-N` is the last N, `+N` is N after the start. Raises: typer.BadParameter naming the text and
    the forms.
    """
    if text in {"start", "beginning", "earliest"}:
        return StartOffset("start", 0)
    if text in {"end", "latest"}:
        return StartOffset("end", 0)
    if text[1:].isdigit() and text[0] in "+-":
        return StartOffset("start" if text[0] == "+" else "end", int(text))
    if text.isdigit():
        return StartOffset("zero", int(text))
    raise typer.BadParameter(f"offset {text!r} is unknown; use start, end, N, +N or -N")


def consume(
    topic: Annotated[list[str], typer.Option("--topic", "-t", help="A topic to read; repeatable.")],
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", help="Only this partition; repeatable.")
    ] = None,
    offset: Annotated[
        str, typer.Option("--offset", "-o", help="start, end, N, -N (the last N) or +N.")
    ] = "end",
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The same as --offset start.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "--num", "-n", "-c", "--max-messages", min=1, help="End after this many records."
        ),
    ] = None,
    exit_at_end: Annotated[
        bool,
        typer.Option("--exit", "-e", help="End at the ends that the partitions had at the start."),
    ] = False,
    timeout_ms: Annotated[
        int | None,
        typer.Option("--timeout-ms", min=1, help="End after this long without a record."),
    ] = None,
    pattern: Annotated[
        str, typer.Option("--format", "-f", help="%t %p %o %k %v %h %d %T and \\n \\t.")
    ] = DEFAULT_FORMAT,
    json: Annotated[bool, typer.Option("--json", "-J", help="One JSON object a line.")] = False,
    isolation_level: Annotated[str, typer.Option("--isolation-level")] = "read_uncommitted",
    group: Annotated[
        str | None,
        typer.Option("--group", "-G", help="Read as a member of this group, and commit."),
    ] = None,
) -> None:
    """Print the records of topics."""
    start = parse_offset("start" if from_beginning else offset)
    if group is not None:
        _check_group_usage(partition, start)
    try:
        formatter = to_json if json else parse_format(pattern)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with exit_codes():
        as_given: dict[str, Any] = {"isolation_level": isolation_level}  # the consumer checks it
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap_server,
            **as_given,
            group_id=group,
            auto_offset_reset="earliest" if start.anchor == "start" else "latest",
        )
        if group is not None:
            consumer.subscribe(topic)
    reader = _Reader(consumer, bootstrap_server, topic, partition, start)
    printed = run(reader.print_records(_printer(formatter), count, exit_at_end, timeout_ms))
    typer.echo(f"{printed} records", err=True)


def _check_group_usage(partitions: list[int] | None, start: StartOffset) -> None:
    """Refuse options that contradict a group: it assigns the partitions and starts at its
    commits.
    """
    if partitions:
        raise typer.BadParameter(f"--partition {partitions} and --group: a group assigns them")
    if start not in (StartOffset("start", 0), StartOffset("end", 0)):
        raise typer.BadParameter("--offset with --group must be start or end: commits come first")


@dataclass(slots=True)
class _Reader:
    consumer: AIOKafkaConsumer
    bootstrap_server: str
    topics: list[str]
    partitions: list[int] | None
    start: StartOffset

    async def print_records(
        self,
        emit: Callable[[list[Record]], None],
        count: int | None,
        exit_at_end: bool,
        timeout_ms: int | None,
    ) -> int:
        printed, silent_ms = 0, 0
        async with self.consumer as consumer:
            ends = await self._seek_to_start()
            while count is None or printed < count:
                left = None if count is None else count - printed
                polled = await consumer.getmany(timeout_ms=POLL_TIMEOUT_MS, max_records=left)
                for records in polled.values():
                    emit(records)
                    printed += len(records)
                silent_ms = 0 if polled else silent_ms + POLL_TIMEOUT_MS
                if timeout_ms is not None and silent_ms >= timeout_ms:
                    break
                if exit_at_end and await self._reached(ends):
                    break
        return printed

    async def _seek_to_start(self) -> dict[TopicPartition, int]:
        """Seek to the start positions; return the present ends of the partitions."""
        if self.consumer.subscription():
            return await self.consumer.end_offsets(self.consumer.assignment())
        described = await describe_topics(self.bootstrap_server, self.topics)
        chosen = [each for topic in described for each in self._chosen_of(topic)]
        self.consumer.assign(chosen)
        beginnings = await self.consumer.beginning_offsets(chosen)
        ends = await self.consumer.end_offsets(chosen)
        for each in chosen:
            self.consumer.seek(each, self.start.resolve(beginnings[each], ends[each]))
        return ends

    def _chosen_of(self, topic: TopicDescription) -> list[TopicPartition]:
        known = {each.partition for each in topic.partitions}
        missing = set(self.partitions or []) - known
        if missing:
            raise UnknownTopicOrPartitionError(
                f"topic {topic.name!r} has partitions 0 to {max(known)}, not {sorted(missing)}"
            )
        return [TopicPartition(topic.name, each) for each in sorted(self.partitions or known)]

    async def _reached(self, ends: dict[TopicPartition, int]) -> bool:
        for partition, end in ends.items():
            if partition not in self.consumer.assignment():
                continue  # another member reads this partition now
            if await self.consumer.position(partition) < end:
                return False
        return True


def _printer(formatter: Formatter) -> Callable[[list[Record]], None]:
    def emit(records: list[Record]) -> None:
        sys.stdout.buffer.write(b"".join(formatter(record) for record in records))
        sys.stdout.buffer.flush()

    return emit


__all__ = ["StartOffset", "consume", "parse_offset"]
