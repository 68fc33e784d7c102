"""`aiokafka-lite users list|set|delete`: users with SCRAM passwords."""

from enum import StrEnum
from typing import Annotated

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.security.scram_credential import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output, fail_with
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.output import OutputFormat, show
from aiokafka_lite.cli.password import STDIN, read_password

app = typer.Typer(
    help="List users with SCRAM passwords; set and delete these.",
    no_args_is_help=True,
    add_completion=False,
)

Name = Annotated[str, typer.Argument(help="The user's name, without User:.")]


class Mechanism(StrEnum):
    """The mechanisms, as clients name them."""

    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


@app.command("list")
@connected(AdminConfig)
def list_users(
    client: Connection,
    names: Annotated[list[str] | None, typer.Argument(help="Users; all without any.")] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List users with their mechanisms. Brokers tell no passwords. An unknown user is an error."""
    found = admin_call(client, lambda admin: admin.describe_user_scram_credentials(names or None))
    rows = [
        (user, _shown(each.mechanism), each.iterations)
        for user, credentials in sorted(found.succeeded.items())
        for each in credentials
    ]
    show(output, "Users", ("user", "mechanism", "iterations"), rows)
    fail_with(found.failed)


@app.command("set")
@connected(AdminConfig)
def set_password(
    client: Connection,
    name: Name,
    password: Annotated[
        str,
        typer.Option(
            "--password", help="Where it stands: - (standard input), env:NAME or file:PATH."
        ),
    ] = STDIN,
    mechanism: Annotated[
        Mechanism, typer.Option("--mechanism", help="Each has a password of its own.")
    ] = Mechanism.SCRAM_SHA_512,
    iterations: Annotated[
        int, typer.Option("--iterations", help="Brokers take 4096 to 16384.")
    ] = 8192,
) -> None:
    """Set a user's password. It is hashed here, and only the hash is sent."""
    secret = read_password(password)
    kind = ScramMechanism[mechanism.name]
    wanted = UserScramCredentialUpsertion(name, kind, iterations, secret)
    done = admin_call(client, lambda admin: admin.alter_user_scram_credentials([wanted]))
    fail_with(done.failed)
    typer.echo(f"set the {mechanism} password of {name}")


@app.command("delete")
@connected(AdminConfig)
def delete(
    client: Connection,
    name: Name,
    mechanism: Annotated[
        Mechanism | None, typer.Option("--mechanism", help="This password only; else all.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be deleted; delete nothing.")
    ] = False,
) -> None:
    """Delete the passwords of a user. An unknown user is an error."""

    async def delete_each(admin: AIOKafkaAdminClient) -> list[ScramMechanism]:
        described = await admin.describe_user_scram_credentials([name])
        described.raise_first()
        kinds = _chosen(described.succeeded[name], mechanism)
        for kind in [] if dry_run else kinds:  # a call may name a user once
            gone = UserScramCredentialDeletion(name, kind)
            (await admin.alter_user_scram_credentials([gone])).raise_first()
        return kinds

    for kind in admin_call(client, delete_each):
        done = "would delete" if dry_run else "deleted"
        typer.echo(f"{done} the {_shown(kind)} password of {name}")


def _chosen(
    credentials: list[ScramCredentialInfo], mechanism: Mechanism | None
) -> list[ScramMechanism]:
    """Return the mechanisms to delete: the one that is named, or all that the user has."""
    if mechanism is not None:
        return [ScramMechanism[mechanism.name]]
    return [each.mechanism for each in credentials]


def _shown(kind: ScramMechanism) -> str:
    return kind.name.replace("_", "-")


__all__ = ["Mechanism", "delete", "list_users", "set_password"]
