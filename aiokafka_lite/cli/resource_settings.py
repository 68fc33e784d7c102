"""Shows and alters the settings of a topic, broker or other resource, for several commands."""

from typing import Annotated, Any

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.config_resource import AlterConfigOp, ConfigResource
from aiokafka_lite.admin.configs.config_entry import ConfigEntry
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import options
from aiokafka_lite.cli.connection import Connection
from aiokafka_lite.cli.output import OutputFormat, show

SetSettings = Annotated[list[str] | None, typer.Option("--set", help="Set key=value. Repeatable.")]
DeleteSettings = Annotated[
    list[str] | None, typer.Option("--delete", help="Back to the default. Repeatable.")
]
ValidateOnly = Annotated[bool, typer.Option("--validate-only", help="Only check, change nothing.")]


def changes_of(alter: list[str] | None, delete: list[str] | None) -> dict[str, Any]:
    """Return what --set and --delete say, as `ConfigResource` takes it.

    Raises: typer.BadParameter for a text without `=`, and for a key with two meanings.
    """
    changes: dict[str, Any] = {
        key: (AlterConfigOp.SET, text) for key, text in options(alter).items()
    }
    for key in delete or []:
        if changes.setdefault(key, (AlterConfigOp.DELETE, None))[0] is not AlterConfigOp.DELETE:
            raise typer.BadParameter(f"{quoted(key)} is set and deleted; choose one")
    return changes


def alter_settings(
    client: Connection, resource: ConfigResource, called: str, *, validate_only: bool
) -> None:
    """Make the changes of a resource, or only have them checked, and say so."""

    async def alter(admin: AIOKafkaAdminClient) -> None:
        (await admin.incremental_alter_configs([resource], validate_only)).raise_first()

    admin_call(client, alter)
    typer.echo(f"{'checked' if validate_only else 'altered'} {called}")


def show_settings(
    client: Connection,
    resource: ConfigResource,
    called: str,
    output: OutputFormat,
    *,
    defaults: bool,
) -> None:
    """Print the settings of a resource, Kafka's defaults too if they are asked for."""

    async def read(admin: AIOKafkaAdminClient) -> dict[str, ConfigEntry]:
        found = await admin.get_configs([resource])
        found.raise_first()
        return found.succeeded[resource]

    rows = [
        (each.name, each.value, each.source.name.lower())
        for each in sorted(admin_call(client, read).values(), key=lambda entry: entry.name)
        if defaults or not each.is_default
    ]
    show(output, f"Settings of {called}", ("name", "value", "source"), rows)


__all__ = [
    "DeleteSettings",
    "SetSettings",
    "ValidateOnly",
    "alter_settings",
    "changes_of",
    "show_settings",
]
