"""`aiokafka-lite transactions list|describe|hanging|abort`."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.transactions.hanging_transactions import (
    MAX_TRANSACTION_TIMEOUT_MS,
    OpenTransaction,
    life_of,
)
from aiokafka_lite.admin.transactions.transaction_answers import AbortTransactionSpec
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.output import Digits, OutputFormat, show
from aiokafka_lite.cli.start_offset import present_ms
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import TopicPartition

app = typer.Typer(
    help="List and describe transactions; find and abort those that hang.",
    no_args_is_help=True,
    add_completion=False,
)


MaxTimeout = Annotated[
    int,
    typer.Option("--max-transaction-timeout-ms", help="The brokers' transaction.max.timeout.ms."),
]


@app.command("list")
@connected(AdminConfig)
def list_transactions(
    client: Connection,
    output: Output = OutputFormat.TABLE,
    state: Annotated[
        list[str] | None, typer.Option("--state", help="Such as Ongoing. Repeatable.")
    ] = None,
    producer_id: Annotated[
        list[int] | None, typer.Option("--producer-id", help="Of a producer. Repeatable.")
    ] = None,
    duration_ms: Annotated[
        int | None, typer.Option("--duration-ms", help="Begun longer ago than that.")
    ] = None,
    pattern: Annotated[
        str | None, typer.Option("--pattern", help="A regular expression for the whole id.")
    ] = None,
) -> None:
    """List the transactional ids of the cluster with their producers and states."""
    found = admin_call(
        client, lambda admin: admin.list_transactions(state, producer_id, duration_ms, pattern)
    )
    rows = [(each.transactional_id, Digits(each.producer_id), each.state) for each in found]
    show(output, "Transactions", ("transactional_id", "producer_id", "state"), rows)


@app.command("describe")
@connected(AdminConfig)
def describe(
    client: Connection,
    transactional_ids: Annotated[list[str], typer.Argument(help="Transactional ids.")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show what the coordinators know of transactional ids. One that is unknown is an error."""
    found = admin_call(client, lambda admin: admin.describe_transactions(transactional_ids))
    rows = [
        (
            *(name, Digits(each.coordinator_id), Digits(each.producer_id)),
            *(Digits(each.producer_epoch), each.state, Digits(each.transaction_timeout_ms)),
            _time(each.transaction_start_time_ms),
            [f"{topic}-{partition}" for topic, partition in sorted(each.topic_partitions)],
        )
        for name, each in found.succeeded.items()
    ]
    columns = ("transactional_id", "coordinator", "producer_id", "producer_epoch")
    more = ("state", "timeout_ms", "began", "partitions")
    show(output, "Transactions", (*columns, *more), rows)
    found.raise_first()


@app.command("hanging")
@connected(AdminConfig)
def hanging(
    client: Connection,
    output: Output = OutputFormat.TABLE,
    broker: Annotated[int | None, typer.Option("--broker", help="Look at its replicas.")] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="Look at its partitions.")] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", help="Look at this one of the topic.")
    ] = None,
    max_transaction_timeout_ms: MaxTimeout = MAX_TRANSACTION_TIMEOUT_MS,
) -> None:
    """Find transactions that are open in partitions and that no coordinator will end."""
    if (broker is None and topic is None) or (topic is None and partition is not None):
        raise typer.BadParameter("name a --broker or a --topic; a --partition needs its --topic")
    found = admin_call(
        client,
        lambda admin: admin.find_hanging_transactions(
            broker, topic, partition, max_transaction_timeout_ms
        ),
    )
    rows = [
        (
            *(each.topic_partition.topic, each.topic_partition.partition),
            *(Digits(each.producer.producer_id), Digits(each.producer.producer_epoch)),
            *(Digits(each.to_abort.coordinator_epoch), _time(each.producer.last_timestamp)),
            _digits(each.producer.current_transaction_start_offset),
        )
        for each in found
    ]
    columns = ("topic", "partition", "producer_id", "producer_epoch", "coordinator_epoch")
    show(output, "Hanging transactions", (*columns, "last_record", "start_offset"), rows)


@app.command("abort")
@connected(AdminConfig)
def abort(
    client: Connection,
    topic: Annotated[str, typer.Option("--topic", help="The topic of the transaction.")],
    partition: Annotated[int, typer.Option("--partition", help="Its partition.")],
    start_offset: Annotated[
        int, typer.Option("--start-offset", help="Its first offset, as `hanging` shows it.")
    ],
    max_transaction_timeout_ms: MaxTimeout = MAX_TRANSACTION_TIMEOUT_MS,
    force: Annotated[
        bool, typer.Option("--force", help="Abort it even if it is alive: its records then split.")
    ] = False,
) -> None:
    """Abort a hanging transaction in one partition. One that is alive is refused."""
    longest_ms = None if force else max_transaction_timeout_ms
    where = TopicPartition(topic, partition)
    spec = admin_call(client, lambda admin: _abort(admin, where, start_offset, longest_ms))
    typer.echo(f"aborted the transaction of producer {spec.producer_id} in {topic}-{partition}")


async def _abort(
    admin: AIOKafkaAdminClient, where: TopicPartition, start_offset: int, longest_ms: int | None
) -> AbortTransactionSpec:
    """Abort the transaction that begins at an offset, with its present epochs.

    With `longest_ms`, how long a transaction may last, one that is alive is refused.
    """
    described = await admin.describe_producers([where])
    described.raise_first()
    for producer in described.succeeded[where]:
        if producer.current_transaction_start_offset == start_offset:
            if longest_ms is not None:
                await _check_hangs(admin, OpenTransaction(where, producer), longest_ms)
            spec = AbortTransactionSpec(
                where,
                producer.producer_id,
                producer.producer_epoch,
                producer.coordinator_epoch or 0,
            )
            await admin.abort_transaction(spec)
            return spec
    raise IllegalArgumentError(
        f"no open transaction of {where.topic}-{where.partition} begins at offset {start_offset};"
        " `hanging` shows those that hang"
    )


async def _check_hangs(
    admin: AIOKafkaAdminClient, transaction: OpenTransaction, longest_ms: int
) -> None:
    """Say how it is known that a transaction hangs. Raises: IllegalArgumentError if it is alive."""
    where, producer = transaction
    listings = await admin.list_transactions(producer_ids=[producer.producer_id])
    known = await admin.describe_transactions([each.transactional_id for each in listings])
    life = life_of(transaction, listings, known, present_ms() - longest_ms)
    last = _time(producer.last_timestamp) or "of no time"
    name = f"the transaction of producer {producer.producer_id} in {where.topic}-{where.partition}"
    if life is not None:
        raise IllegalArgumentError(
            f"{name} is alive: {life}. Its last record is of {last}. Nothing was done: let its"
            " producer end it, or fence its transactional id. With --force only this partition's"
            " part is aborted, and what the producer writes there later is committed without it"
        )
    typer.echo(f"{name} hangs: no coordinator lists it, and its last record is of {last}", err=True)


def _digits(number: int | None) -> Digits | None:
    return None if number is None else Digits(number)


def _time(timestamp_ms: int | None) -> str | None:
    """Return milliseconds since 1970 as a time in UTC; None for none."""
    if timestamp_ms is None or timestamp_ms < 0:
        return None
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC).isoformat(timespec="milliseconds")


__all__ = ["abort", "describe", "hanging", "list_transactions"]
