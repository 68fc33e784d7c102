"""`aiokafka-lite topics list|describe|create|delete`."""

from typing import Annotated

import typer

from aiokafka_lite.admin.topics import create_topic, delete_topic, describe_topics
from aiokafka_lite.cli.command import DEFAULT_BOOTSTRAP, Bootstrap, options, run
from aiokafka_lite.cli.output import OutputFormat, show

app = typer.Typer(help="List, describe, create and delete topics.", no_args_is_help=True)

Output = Annotated[OutputFormat, typer.Option("--output", help="A table or JSON.")]
Name = Annotated[str, typer.Argument(help="The topic's name.")]


@app.command("list")
def list_topics(
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    output: Output = OutputFormat.TABLE,
    internal: Annotated[bool, typer.Option(help="Show Kafka's own topics too.")] = False,
) -> None:
    """List the topics of the cluster with their number of partitions."""
    topics = run(describe_topics(bootstrap_server))
    rows = [
        (each.name, len(each.partitions)) for each in topics if internal or not each.is_internal
    ]
    show(output, "Topics", ("topic", "partitions"), list(rows))


@app.command("describe")
def describe(
    name: Name,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show leader, replicas and in-sync replicas of every partition."""
    (topic,) = run(describe_topics(bootstrap_server, [name]))
    rows = [
        (each.partition, "none" if each.leader is None else str(each.leader),
         " ".join(map(str, each.replicas)), " ".join(map(str, each.in_sync)))
        for each in topic.partitions
    ]  # fmt: skip
    show(output, f"Topic {name}", ("partition", "leader", "replicas", "in_sync"), list(rows))


@app.command("create")
def create(
    name: Name,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
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
    settings = options(config)
    run(
        create_topic(
            bootstrap_server,
            name,
            partitions=partitions,
            replication_factor=replication_factor,
            configs=settings,
        )
    )
    typer.echo(f"created {name}")


@app.command("delete")
def delete(name: Name, bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP) -> None:
    """Delete a topic and all its records."""
    run(delete_topic(bootstrap_server, name))
    typer.echo(f"deleted {name}")


__all__ = ["create", "delete", "describe", "list_topics"]
