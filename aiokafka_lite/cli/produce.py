"""`aiokafka-lite produce`: lines of stdin or of files become records."""

import asyncio
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from aiokafka_lite.cli.command import DEFAULT_BOOTSTRAP, Bootstrap, exit_codes, options, run
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer import AIOKafkaProducer


@dataclass(frozen=True, slots=True)
class LineRules:
    """How one line becomes (key, value)."""

    key: bytes | None
    delimiter: bytes | None
    empty_is_null: bool

    def split(self, line: bytes) -> tuple[bytes | None, bytes | None]:
        """Return key and value. The key is the common one, or stands before the delimiter."""
        line = line.rstrip(b"\r\n")
        key, value = self.key, line
        if self.delimiter is not None and self.delimiter in line:
            key, _, value = line.partition(self.delimiter)
        return key, None if self.empty_is_null and not value else value


def produce(
    topic: Annotated[str, typer.Option("--topic", "-t", help="Where the records go.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files to read line by line; stdin without any.", exists=True),
    ] = None,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of every record.")] = None,
    delimiter: Annotated[
        str | None,
        typer.Option("--key-delimiter", "-K", help="The text between key and value in a line."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", help="A header of every record, name=value."),
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
    acks: Annotated[str, typer.Option("--acks", help="0, 1 or all.")] = "all",
) -> None:
    """Send each line of stdin (or of the files) as one record."""
    rules = LineRules(
        key.encode() if key is not None else None,
        delimiter.encode() if delimiter is not None else None,
        null,
    )
    headers = [(name, value.encode()) for name, value in options(header).items()]
    with exit_codes():
        # The producer checks these two, and its error names the values they may have.
        as_given: dict[str, Any] = {
            "compression_type": compression,
            "acks": int(acks) if acks.lstrip("-").isdigit() else acks,
        }
        producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap_server,
            enable_idempotence=acks in {"all", "-1"},
            **as_given,
        )
    sent = run(_send_lines(producer, topic, _lines(files), rules, partition, headers))
    typer.echo(f"{sent} records sent to {topic}", err=True)


async def _send_lines(
    producer: AIOKafkaProducer,
    topic: str,
    lines: Iterator[bytes],
    rules: LineRules,
    partition: int | None,
    headers: list[tuple[str, bytes]],
) -> int:
    unsettled: deque[RecordAck] = deque()  # limited, because a stream may have lines without end
    sent = 0
    async with producer:
        # A terminal's next line may take long. A thread waits for it, while linger continues.
        while (line := await asyncio.to_thread(next, lines, None)) is not None:
            key, value = rules.split(line)
            unsettled.append(
                await producer.send(topic, value, key, partition=partition, headers=headers)
            )
            sent += 1
            while unsettled and unsettled[0].done():
                await unsettled.popleft()
        await producer.flush()
        for ack in unsettled:
            await ack
    return sent


def _lines(files: list[Path] | None) -> Iterator[bytes]:
    if not files:
        yield from sys.stdin.buffer
        return
    for path in files:
        with path.open("rb") as file:
            yield from file


__all__ = ["LineRules", "produce"]
