"""`aiokafka-lite consume`: records of topics on stdout, by pattern or as JSON lines."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from aiokafka_lite import admin
from aiokafka_lite.cli.chosen_partitions import check_partitions
from aiokafka_lite.cli.command import exit_codes, run
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.output import counted
from aiokafka_lite.cli.record_format import (
    DEFAULT_FORMAT,
    LETTERS,
    Formatter,
    Record,
    parse_format,
    to_json,
)
from aiokafka_lite.cli.start_offset import FORMS, StartOffset, parse_range, present_ms
from aiokafka_lite.cli.topics import described
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.model import TopicPartition

POLL_TIMEOUT_MS = 500


app = typer.Typer(add_completion=False)


@app.command("consume")
@connected(ConsumerConfig)
def consume(
    client: Connection,
    topic: Annotated[list[str], typer.Option("--topic", "-t", help="A topic to read; repeatable.")],
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", help="Only this partition; repeatable.")
    ] = None,
    offset: Annotated[
        list[str] | None,
        typer.Option(
            "--offset",
            "-o",
            help=f"{FORMS}. s@TIME and e@TIME are a start and an end. Default: end.",
        ),
    ] = None,
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
    pattern: Annotated[str, typer.Option("--format", "-f", help=LETTERS)] = DEFAULT_FORMAT,
    json: Annotated[bool, typer.Option("--json", "-J", help="One JSON object a line.")] = False,
    isolation_level: Annotated[str, typer.Option("--isolation-level")] = "read_uncommitted",
    group: Annotated[
        str | None,
        typer.Option("--group", "-G", help="Read as a member of this group, and commit."),
    ] = None,
) -> None:
    """Print the records of topics."""
    texts = ["start"] if from_beginning else offset or ["end"]
    start, stop = parse_range(texts, present_ms())
    if group is not None:
        _check_group_usage(partition, start, stop)
    try:
        formatter = to_json if json else parse_format(pattern)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with exit_codes():
        as_given: dict[str, Any] = {  # the consumer checks it
            "isolation_level": isolation_level,
            "auto_offset_reset": "earliest" if start.anchor == "start" else "latest",
            "group_id": group,
        }
        consumer = AIOKafkaConsumer(**{**as_given, **client.options(ConsumerConfig)})
        if group is not None:
            consumer.subscribe(topic)
    reader = _Reader(consumer, client, topic, partition, start, stop)
    at_end = exit_at_end or stop is not None
    printed = run(reader.print_records(_printer(formatter), count, at_end, timeout_ms))
    typer.echo(counted(printed, "record"), err=True)


def _check_group_usage(
    partitions: list[int] | None, start: StartOffset, stop: StartOffset | None
) -> None:
    """Refuse options that contradict a group: it assigns the partitions and starts at its
    commits.
    """
    if partitions:
        raise typer.BadParameter(f"--partition {partitions} and --group: a group assigns them")
    if start not in (StartOffset("start", 0), StartOffset("end", 0)) or stop is not None:
        raise typer.BadParameter("--offset with --group must be start or end: commits come first")


@dataclass(slots=True)
class _Reader:
    consumer: AIOKafkaConsumer
    connection: Connection
    topics: list[str]
    partitions: list[int] | None
    start: StartOffset
    stop: StartOffset | None

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
            # A group commits what was polled, so nothing of that may stay unprinted.
            stops = ends if exit_at_end and not consumer.subscription() else {}
            while count is None or printed < count:
                left = None if count is None else count - printed
                polled = await consumer.getmany(timeout_ms=POLL_TIMEOUT_MS, max_records=left)
                for tp, polled_records in polled.items():
                    records = _before(stops.get(tp), polled_records)
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
        topics = await described(self.topics, self.connection.options())
        chosen = [each for topic in topics for each in self._chosen_of(topic)]
        self.consumer.assign(chosen)
        beginnings = await self.consumer.beginning_offsets(chosen)
        ends = await self.consumer.end_offsets(chosen)
        starts = await self._offsets_of(self.start, beginnings, ends)
        for each in chosen:
            self.consumer.seek(each, starts[each])
        return ends if self.stop is None else await self._offsets_of(self.stop, beginnings, ends)

    async def _offsets_of(
        self,
        place: StartOffset,
        beginnings: dict[TopicPartition, int],
        ends: dict[TopicPartition, int],
    ) -> dict[TopicPartition, int]:
        """Return the offset of a place in each partition."""
        found: dict[TopicPartition, int | None] = {}
        if place.time_ms is not None:
            times = await self.consumer.offsets_for_times(dict.fromkeys(ends, place.time_ms))
            found = {tp: None if each is None else each.offset for tp, each in times.items()}
        return {tp: place.resolve(beginnings[tp], ends[tp], found.get(tp)) for tp in ends}

    def _chosen_of(self, topic: "admin.TopicDescription") -> list[TopicPartition]:
        known = {each.partition for each in topic.partitions}
        check_partitions(topic.name, known, self.partitions or ())
        return [TopicPartition(topic.name, each) for each in sorted(self.partitions or known)]

    async def _reached(self, ends: dict[TopicPartition, int]) -> bool:
        for partition, end in ends.items():
            if partition not in self.consumer.assignment():
                continue  # another member reads this partition now
            if await self.consumer.position(partition) < end:
                return False
        return True


def _before(stop: int | None, records: list[Record]) -> list[Record]:
    """Return the records before an offset; all without one."""
    if stop is None or records[-1].offset < stop:
        return records
    return [each for each in records if each.offset < stop]


def _printer(formatter: Formatter) -> Callable[[list[Record]], None]:
    def emit(records: list[Record]) -> None:
        sys.stdout.buffer.write(b"".join(formatter(record) for record in records))
        sys.stdout.buffer.flush()

    return emit


__all__ = ["app", "consume"]
