"""`aiokafka-lite produce`: lines of stdin or of files become records."""

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from aiokafka_lite.cli.chosen_partitions import check_partitions
from aiokafka_lite.cli.command import STOPPED_BY_A_SIGNAL, exit_codes, pairs_of, run
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.input_lines import lines_of
from aiokafka_lite.cli.json_records import record_of
from aiokafka_lite.cli.output import counted
from aiokafka_lite.producer.append.bulk_ack import BulkAck
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.producer_config import ProducerConfig


@dataclass(frozen=True, slots=True)
class LineRules:
    """How one line becomes (key, value)."""

    key: bytes | None
    delimiter: bytes | None
    empty_is_null: bool

    def split(self, line: bytes) -> tuple[bytes | None, bytes | None]:
        """Return key and value. The key is the common one, or stands before the delimiter."""
        key, value = self.key, line
        if self.delimiter is not None and self.delimiter in line:
            key, _, value = line.partition(self.delimiter)
        return key, None if self.empty_is_null and not value else value

    def records_of(self, lines: list[bytes]) -> list[Any]:
        """Return what `send_many` takes: a value or a tuple (key, value) for each line.

        Raises: ValueError for an empty line that would be a record without key and value.
        """
        if self.key is None and self.delimiter is None and not self.empty_is_null:
            return lines
        records = [self.split(line) for line in lines]
        if (None, None) in records:
            raise ValueError("an empty line has neither key nor value; --null needs a key, too")
        return records


app = typer.Typer(add_completion=False)


@app.command("produce")
@connected(ProducerConfig)
def produce(
    client: Connection,
    topic: Annotated[str, typer.Option("--topic", "-t", help="Where the records go.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files to read line by line; stdin without any.", exists=True),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of every record.")] = None,
    delimiter: Annotated[
        str | None,
        typer.Option("--key-delimiter", "-K", help="The text between key and value in a line."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", help="A header of every record, name=value. Repeatable."),
    ] = None,
    compression: Annotated[
        str | None, typer.Option("--compression", "-z", help="gzip, snappy, lz4 or zstd.")
    ] = None,
    null: Annotated[
        bool, typer.Option("--null", "-Z", help="Send an empty value as null (a tombstone).")
    ] = False,
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, help="The partition of all records.")
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", "-J", help="Lines as `consume -J` writes them, with their times."),
    ] = False,
    keep_partition: Annotated[
        bool, typer.Option("--keep-partition", help="With -J: the partition that a line names.")
    ] = False,
    acks: Annotated[str, typer.Option("--acks", help="0, 1 or all.")] = "all",
) -> None:
    """Send each line of stdin (or of the files) as one record."""
    if json and (key is not None or delimiter is not None or null):
        raise typer.BadParameter("--json has key and value; leave out --key, -K and --null")
    if keep_partition and (partition is not None or not json):
        raise typer.BadParameter("--keep-partition needs --json, and no --partition")
    rules = LineRules(
        key.encode() if key is not None else None,
        delimiter.encode() if delimiter is not None else None,
        null,
    )
    headers: list[tuple[str, bytes | None]] = [
        (name, value.encode()) for name, value in pairs_of(header)
    ]
    with exit_codes():
        # The producer checks these two, and its error names the values they may have.
        as_given: dict[str, Any] = {
            "compression_type": compression,
            "acks": int(acks) if acks.lstrip("-").isdigit() else acks,
            "enable_idempotence": acks in {"all", "-1"},
        }
        producer = AIOKafkaProducer(**{**as_given, **client.options(ProducerConfig)})
    given = (producer, topic, partition, headers)
    sender = _JsonSender(*given, keep_partition) if json else _LineSender(*given, rules)
    try:
        run(sender.send(files or []))
    except typer.Exit as ended:
        if ended.exit_code < STOPPED_BY_A_SIGNAL:
            raise
        typer.echo(f"{counted(sender.written, 'record')} sent to {topic}", err=True)
        raise
    typer.echo(f"{counted(sender.written, 'record')} sent to {topic}", err=True)


@dataclass(slots=True)
class _Sender(ABC):
    producer: AIOKafkaProducer
    topic: str
    partition: int | None
    headers: list[tuple[str, bytes | None]]

    written: int = field(default=0, init=False)
    unsettled: deque[BulkAck | RecordAck] = field(default_factory=deque, init=False)
    """Acks in the order of sending; what they hold is bounded by the producer's memory."""

    async def send(self, files: list[Path]) -> None:
        """Send the lines of the files, or of stdin. Cancelled: what was read is sent first."""
        try:
            async with self.producer as producer:
                await self.check()
                async for lines in lines_of(files):
                    await self.send_lines(lines)
                    while self.unsettled and self.unsettled[0].done():
                        await self.unsettled[0]
                        self.written += _written(self.unsettled.popleft())
                await producer.flush()
        finally:
            self.written += sum(_written(ack) for ack in self.unsettled if ack.done())
        for ack in self.unsettled:
            await ack

    async def check(self) -> None:
        """Check the partition that was named: sending would wait max_block_ms for it.

        Raises: UnknownTopicOrPartitionError if the topic does not have it.
        """
        if self.partition is not None:
            known = await self.producer.partitions_for(self.topic)
            check_partitions(self.topic, known, [self.partition])

    @abstractmethod
    async def send_lines(self, lines: list[bytes]) -> None:
        """Send some lines; keep their acks in `unsettled`."""


@dataclass(slots=True)
class _LineSender(_Sender):
    rules: LineRules

    async def send_lines(self, lines: list[bytes]) -> None:
        records = self.rules.records_of(lines)
        self.unsettled.append(
            await self.producer.send_many(self.topic, records, self.partition, headers=self.headers)
        )


@dataclass(slots=True)
class _JsonSender(_Sender):
    keep_partition: bool
    _lines: int = field(default=0, init=False)
    _known: set[int] = field(default_factory=set, init=False)

    async def check(self) -> None:
        self._known = await self.producer.partitions_for(self.topic)
        await _Sender.check(self)

    async def send_lines(self, lines: list[bytes]) -> None:
        for line in lines:
            self._lines += 1
            record = record_of(line, self._lines)
            partition = record.partition if self.keep_partition else self.partition
            if partition is not None:
                check_partitions(self.topic, self._known, [partition])
            fields = (
                self.topic,
                record.value,
                record.key,
                partition,
                record.timestamp_ms,
                [*record.headers, *self.headers],
            )
            if record.value is None and record.key is None:  # which `send` takes for a mistake
                ack = await self.producer._path.send(*fields, allow_empty=True)
            else:
                ack = await self.producer.send(*fields)
            self.unsettled.append(ack)


def _written(ack: BulkAck | RecordAck) -> int:
    """Return how many records of a done ack were written."""
    if isinstance(ack, BulkAck):
        return ack.written_count
    return 0 if ack.exception() is not None else 1


__all__ = ["LineRules", "app", "produce"]
