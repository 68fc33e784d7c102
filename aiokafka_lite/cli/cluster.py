"""`aiokafka-lite cluster describe|features|quorum|configs`."""

from typing import Annotated

import typer

from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output
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

app = typer.Typer(
    help="Show brokers, features and the quorum; show and alter configurations.",
    no_args_is_help=True,
    add_completion=False,
)

_KINDS = ", ".join(each.name.lower() for each in ConfigResourceType)


@app.command("describe")
@connected(AdminConfig)
def describe(
    client: Connection,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the brokers with their addresses and racks, and the cluster's id."""
    found = admin_call(client, lambda admin: admin.describe_cluster())
    rows = [
        (
            *(Digits(each["node_id"]), f"{each['host']}:{each['port']}", each["rack"]),
            found["cluster_id"],
        )
        for each in found["brokers"]
    ]
    show(output, "Cluster", ("broker", "address", "rack", "cluster_id"), rows)


@app.command("features")
@connected(AdminConfig)
def features(
    client: Connection,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the features with the level in force and the levels that the broker supports."""
    found = admin_call(client, lambda admin: admin.describe_features())
    levels = {name: each.max_level for name, each in found.finalized.items()}
    rows = [
        (name, levels.get(name, 0), each.min_level, each.max_level)
        for name, each in sorted(found.supported.items())
    ]
    show(output, "Features", ("feature", "level", "lowest", "highest"), rows)


@app.command("quorum")
@connected(AdminConfig)
def quorum(
    client: Connection,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the nodes of the metadata quorum, and how far each one is behind the leader."""
    found = admin_call(client, lambda admin: admin.describe_metadata_quorum())
    ends = {each.replica_id: each.log_end_offset for each in (*found.voters, *found.observers)}
    leader_end = ends.get(found.leader_id, found.high_watermark)
    voters = {each.replica_id for each in found.voters}
    rows = [
        (Digits(node_id), _part(node_id, found.leader_id, voters), end, leader_end - end)
        for node_id, end in sorted(ends.items())
    ]
    title = f"Metadata quorum, epoch {found.leader_epoch}"
    show(output, title, ("node", "part", "log_end_offset", "lag"), rows)


@app.command("configs")
@connected(AdminConfig)
def configs(
    client: Connection,
    kind: Annotated[str, typer.Argument(help=f"One of {_KINDS}.")],
    name: Annotated[str, typer.Argument(help='Name, or id of a broker; "" for all brokers.')],
    output: Output = OutputFormat.TABLE,
    defaults: Annotated[bool, typer.Option(help="Show Kafka's defaults too.")] = False,
    alter: SetSettings = None,
    delete: DeleteSettings = None,
    validate_only: ValidateOnly = False,
) -> None:
    """Show the settings of a resource, or alter them."""
    changes = changes_of(alter, delete)
    try:
        resource = ConfigResource(kind.replace("-", "_"), name, changes or None)
    except KeyError:
        raise typer.BadParameter(f"{quoted(kind)} is none of {_KINDS}") from None
    if changes:
        alter_settings(client, resource, f"{kind} {name}", validate_only=validate_only)
    else:
        show_settings(client, resource, f"{kind} {name}", output, defaults=defaults)


def _part(node_id: int, leader_id: int, voters: set[int]) -> str:
    if node_id == leader_id:
        return "leader"
    return "voter" if node_id in voters else "observer"


__all__ = ["configs", "describe", "features", "quorum"]
