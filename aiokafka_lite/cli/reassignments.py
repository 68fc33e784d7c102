"""`aiokafka-lite reassignments list|watch`."""

from typing import Annotated

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.output import OutputFormat, show
from aiokafka_lite.model import names_of

app = typer.Typer(
    help="Show the replicas that are moving to other brokers.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("list")
@connected(AdminConfig)
def list_reassignments(
    client: Connection,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the reassignments that have not ended."""
    found = admin_call(client, lambda admin: admin.list_partition_reassignments())
    rows = [
        (tp.topic, tp.partition, *(list(brokers) for brokers in each))
        for tp, each in sorted(found.items())
    ]
    columns = ("topic", "partition", "replicas", "adding", "removing")
    show(output, "Reassignments", columns, rows)


@app.command("watch")
@connected(AdminConfig)
def watch(
    client: Connection,
    timeout_ms: Annotated[
        int | None, typer.Option("--timeout-ms", min=1, help="Give up then; default: never.")
    ] = None,
    interval_ms: Annotated[
        int, typer.Option("--interval-ms", min=1, help="Pause between two lines.")
    ] = 1_000,
) -> None:
    """Print a line at each look, until all reassignments have ended."""
    admin_call(client, lambda admin: _watch(admin, timeout_ms, interval_ms))


async def _watch(admin: AIOKafkaAdminClient, timeout_ms: int | None, interval_ms: int) -> None:
    looks = admin.watch_partition_reassignments(None, timeout_ms, interval_ms=interval_ms)
    async for look in looks:
        if look.ongoing:
            names = names_of(sorted(look.ongoing))
            typer.echo(f"{names}: {look.copied_bytes} of {look.total_bytes} bytes")
        else:
            typer.echo(f"{len(look.ended)} reassignments have ended, none is ongoing")


__all__ = ["list_reassignments", "watch"]
