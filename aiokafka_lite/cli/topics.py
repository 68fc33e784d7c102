"""`aiokafka-lite topics list|describe|create|alter|configs|add-partitions|delete|offsets|…`."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from aiokafka_lite import admin
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.config_resource import ConfigResource
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.chosen_partitions import check_partitions
from aiokafka_lite.cli.command import Output, options, run
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.output import Digits, OutputFormat, show
from aiokafka_lite.cli.resource_settings import (
    DeleteSettings,
    SetSettings,
    ValidateOnly,
    alter_settings,
    changes_of,
    show_settings,
)
from aiokafka_lite.cli.start_offset import StartOffset, parse_offset, parse_time, present_ms
from aiokafka_lite.model import TopicPartition

app = typer.Typer(
    help="List, describe, create, alter and delete topics; look up offsets.",
    no_args_is_help=True,
    add_completion=False,
)

Name = Annotated[str, typer.Argument(help="The topic's name.")]


@app.command("list")
@connected()
def list_topics(
    client: Connection,
    output: Output = OutputFormat.TABLE,
    internal: Annotated[bool, typer.Option(help="Show Kafka's own topics too.")] = False,
) -> None:
    """List the topics of the cluster with their number of partitions."""
    topics = run(described(None, client.options()))
    rows = [
        (each.name, len(each.partitions)) for each in topics if internal or not each.is_internal
    ]
    show(output, "Topics", ("topic", "partitions"), rows)


@app.command("describe")
@connected()
def describe(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show leader, replicas and in-sync replicas of every partition."""
    (topic,) = run(described([name], client.options()))
    rows = [
        (
            each.partition,
            None if each.leader is None else Digits(each.leader),
            list(each.replicas),
            list(each.in_sync),
        )
        for each in topic.partitions
    ]
    show(output, f"Topic {name}", ("partition", "leader", "replicas", "in_sync"), rows)


@app.command("create")
@connected()
def create(
    client: Connection,
    name: Name,
    partitions: Annotated[
        int, typer.Option("--partitions", "-p", help="-1: the broker's default.")
    ] = -1,
    replication_factor: Annotated[
        int, typer.Option("--replication-factor", "-r", help="-1: the broker's default.")
    ] = -1,
    config: Annotated[
        list[str] | None, typer.Option("--config", "-c", help="A topic setting, key=value.")
    ] = None,
) -> None:
    """Create a topic."""
    topic = admin.NewTopic(name, partitions, replication_factor, topic_configs=options(config))
    run(_create(topic, client.options()))
    typer.echo(f"created {name}")


@app.command("delete")
@connected()
def delete(
    client: Connection,
    name: Name,
) -> None:
    """Delete a topic and all its records."""
    run(_delete(name, client.options()))
    typer.echo(f"deleted {name}")


@app.command("configs")
@connected(AdminConfig)
def configs(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
    defaults: Annotated[bool, typer.Option(help="Show Kafka's defaults too.")] = False,
) -> None:
    """Show the settings of a topic."""
    show_settings(client, ConfigResource("topic", name), f"topic {name}", output, defaults=defaults)


@app.command("alter")
@connected(AdminConfig)
def alter(
    client: Connection,
    name: Name,
    changed: SetSettings = None,
    removed: DeleteSettings = None,
    validate_only: ValidateOnly = False,
) -> None:
    """Change settings of a topic."""
    changes = changes_of(changed, removed)
    if not changes:
        raise typer.BadParameter("name a change: --set key=value or --delete key")
    resource = ConfigResource("topic", name, changes)
    alter_settings(client, resource, f"topic {name}", validate_only=validate_only)


@app.command("add-partitions")
@connected(AdminConfig)
def add_partitions(
    client: Connection,
    name: Name,
    total: Annotated[
        int, typer.Option("--partitions", "-p", min=1, help="How many there shall be in all.")
    ],
    validate_only: ValidateOnly = False,
) -> None:
    """Give a topic more partitions. Keys may then belong to other partitions than before."""
    wanted = {name: admin.NewPartitions(total)}
    admin_call(client, lambda each: each.create_partitions(wanted, validate_only=validate_only))
    typer.echo(f"{name} {'may have' if validate_only else 'has'} {total} partitions")


@app.command("delete-records")
@connected(AdminConfig)
def delete_records(
    client: Connection,
    name: Name,
    before: Annotated[
        str, typer.Option("--before", help="An offset, `end`, or a time, as `consume -o` has it.")
    ],
    output: Output = OutputFormat.TABLE,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", help="Only this one; repeatable.")
    ] = None,
) -> None:
    """Delete the records before a place in each partition. Show the new first offsets."""
    place = parse_offset(before, present_ms())
    if place.anchor == "start" or (place.anchor == "end" and place.distance):
        raise typer.BadParameter(f"--before {before}: write an offset, end, or a time")
    found = admin_call(client, lambda each: _delete_records(each, name, partition, place))
    rows = [(tp.partition, Digits(offset)) for tp, offset in sorted(found.items())]
    show(output, f"First offsets of {name}", ("partition", "offset"), rows)


class Place(StrEnum):
    """What is looked up in each partition."""

    LATEST = "latest"
    EARLIEST = "earliest"
    MAX_TIMESTAMP = "max-timestamp"
    EARLIEST_LOCAL = "earliest-local"
    LATEST_TIERED = "latest-tiered"
    EARLIEST_PENDING_UPLOAD = "earliest-pending-upload"


@app.command("offsets")
@connected()
def offsets(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
    place: Annotated[Place, typer.Option("--at", help="Which offset.")] = Place.LATEST,
    time: Annotated[
        str | None,
        typer.Option("--time", help="A TIME as in `consume -o`, in place of --at."),
    ] = None,
    committed: Annotated[
        bool, typer.Option("--committed", help="Without records of open transactions.")
    ] = False,
) -> None:
    """Show the offset at one place or time in every partition."""
    spec = admin.OffsetSpec[place.name] if time is None else parse_time(time, present_ms())
    found = run(_offsets(name, spec, client.options(), is_committed=committed))
    rows = [
        (
            tp.partition,
            Digits(each.offset),
            None if each.timestamp < 0 else Digits(each.timestamp),
        )
        for tp, each in found.items()
    ]
    show(output, f"Offsets of {name}", ("partition", "offset", "timestamp"), rows)


async def described(
    names: Sequence[str] | None, options: dict[str, Any]
) -> list[admin.TopicDescription]:
    """Return the topics, or all, by name. Raises: the error of the first; as the admin client."""
    async with admin.AIOKafkaAdminClient(**options) as client:
        found = await client.describe_topic_partitions(names)
    found.raise_first()
    return sorted(found.succeeded.values(), key=lambda topic: topic.name)


async def _create(topic: admin.NewTopic, options: dict[str, Any]) -> None:
    async with admin.AIOKafkaAdminClient(**options) as client:
        (await client.create_topics([topic])).topics.raise_first()


async def _offsets(
    name: str, spec: admin.OffsetSpec | int, options: dict[str, Any], *, is_committed: bool
) -> dict[TopicPartition, admin.ListOffsetsResult]:
    async with admin.AIOKafkaAdminClient(**options) as client:
        topics = await client.describe_topic_partitions([name])
        topics.raise_first()
        partitions = topics.succeeded[name].partitions
        found = await client.list_offsets(
            {TopicPartition(name, each.partition): spec for each in partitions},
            "read_committed" if is_committed else "read_uncommitted",
        )
    found.raise_first()
    return found.succeeded


async def _delete_records(
    client: admin.AIOKafkaAdminClient, name: str, chosen: list[int] | None, place: StartOffset
) -> dict[TopicPartition, int]:
    topics = await client.describe_topic_partitions([name])
    topics.raise_first()
    known = {each.partition for each in topics.succeeded[name].partitions}
    check_partitions(name, known, chosen or ())
    offsets = dict.fromkeys(
        (TopicPartition(name, each) for each in sorted(chosen or known)),
        -1 if place.anchor == "end" else place.distance,
    )
    if place.time_ms is not None:
        answer = await client.list_offsets(dict.fromkeys(offsets, place.time_ms))
        answer.raise_first()
        # -1 is the answer for a time after the last record, and means all records here.
        offsets = {tp: each.offset for tp, each in answer.succeeded.items()}
    wanted = {tp: admin.RecordsToDelete(before) for tp, before in offsets.items()}
    return await client.delete_records(wanted)


async def _delete(name: str, options: dict[str, Any]) -> None:
    async with admin.AIOKafkaAdminClient(**options) as client:
        (await client.delete_topics([name])).topics.raise_first()


__all__ = [
    "Place",
    "add_partitions",
    "alter",
    "configs",
    "create",
    "delete",
    "delete_records",
    "describe",
    "described",
    "list_topics",
    "offsets",
]
