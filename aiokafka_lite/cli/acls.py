"""`aiokafka-lite acls list|add|remove`, with the words of kafka-acls."""

from enum import StrEnum
from typing import Annotated

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.security.acl_binding import (
    AclBinding,
    AclBindingFilter,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from aiokafka_lite.cli import acl_rules
from aiokafka_lite.cli.acl_rules import Resource
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output, exit_codes, fail_with
from aiokafka_lite.cli.connection import Connection, connected, joined
from aiokafka_lite.cli.output import OutputFormat, show
from aiokafka_lite.errors import KafkaConfigurationError

app = typer.Typer(
    help="List, add and remove access rules (ACLs).", no_args_is_help=True, add_completion=False
)


class Pattern(StrEnum):
    """How rules name their resources."""

    LITERAL = "literal"
    PREFIXED = "prefixed"


class WantedPattern(StrEnum):
    """The rules to find, by how they name their resources."""

    ANY = "any"
    MATCH = "match"
    LITERAL = "literal"
    PREFIXED = "prefixed"


class Permission(StrEnum):
    """Whether rules allow or deny."""

    ANY = "any"
    ALLOW = "allow"
    DENY = "deny"


Texts = list[str] | None


def resources(
    topic: Annotated[
        Texts, typer.Option("--topic", "-t", help="A topic, or *. Repeatable.")
    ] = None,
    group: Annotated[Texts, typer.Option("--group", help="A group, or *. Repeatable.")] = None,
    cluster: Annotated[bool, typer.Option("--cluster", help="The cluster itself.")] = False,
    transactional_id: Annotated[
        Texts, typer.Option("--transactional-id", help="An id, or *. Repeatable.")
    ] = None,
    delegation_token: Annotated[
        Texts, typer.Option("--delegation-token", help="A token's id, or *. Repeatable.")
    ] = None,
    user_principal: Annotated[
        Texts, typer.Option("--user-principal", help="A user whose tokens are meant. Repeatable.")
    ] = None,
) -> list[Resource]:
    """Return what a command is about."""
    named = {
        ResourceType.TOPIC: topic,
        ResourceType.GROUP: group,
        ResourceType.CLUSTER: ["kafka-cluster"] if cluster else [],
        ResourceType.TRANSACTIONAL_ID: transactional_id,
        ResourceType.DELEGATION_TOKEN: delegation_token,
        ResourceType.USER: user_principal,
    }
    return [Resource(kind, name) for kind, names in named.items() for name in names or ()]


class Filter:
    """Which rules a command finds."""

    def __init__(
        self,
        pattern: Annotated[
            WantedPattern | None,
            typer.Option(
                "--resource-pattern-type",
                help="match finds the rules that apply to a resource. Default: literal.",
            ),
        ] = None,
        principal: Annotated[
            Texts, typer.Option("--principal", help="Such as User:alice. Repeatable.")
        ] = None,
        host: Annotated[Texts, typer.Option("--host", help="Address or *. Repeatable.")] = None,
        operation: Annotated[
            Texts, typer.Option("--operation", help="Such as Read. Repeatable.")
        ] = None,
        permission: Annotated[
            Permission, typer.Option("--permission", help="Rules that allow, or deny.")
        ] = Permission.ANY,
    ) -> None:
        self.pattern = None if pattern is None else PatternType[pattern.name]
        self.principals = principal or []
        self.hosts = host or []
        self.operations = [acl_rules.operation_of(each) for each in operation or ()]
        self.permission = AclPermissionType[permission.name]

    def of(self, about: list[Resource]) -> list[AclBindingFilter]:
        """Return the filters for rules about these resources, or about all."""
        words = (self.principals, self.hosts, self.operations, self.permission)
        return acl_rules.filters_of(about, self.pattern, *words)


@app.command("list")
@connected(AdminConfig)
@joined("wanted", Filter)
@joined("about", resources)
def list_acls(
    client: Connection,
    about: list[Resource],
    wanted: Filter,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the rules that match all the words; without words, all rules."""
    found = admin_call(client, lambda admin: _found(admin, wanted.of(about)))
    _show(output, found)


@app.command("add")
@connected(AdminConfig)
@joined("about", resources)
def add(
    client: Connection,
    about: list[Resource],
    allow_principal: Annotated[
        Texts, typer.Option("--allow-principal", help="Such as User:alice. Repeatable.")
    ] = None,
    deny_principal: Annotated[
        Texts, typer.Option("--deny-principal", help="Such as User:bob. Repeatable.")
    ] = None,
    allow_host: Annotated[
        Texts, typer.Option("--allow-host", help="From this address alone. Repeatable.")
    ] = None,
    deny_host: Annotated[
        Texts, typer.Option("--deny-host", help="From this address alone. Repeatable.")
    ] = None,
    operation: Annotated[
        Texts, typer.Option("--operation", help="Such as Read. Default: All. Repeatable.")
    ] = None,
    pattern: Annotated[
        Pattern, typer.Option("--resource-pattern-type", help="Names, or beginnings of names.")
    ] = Pattern.LITERAL,
    producer: Annotated[
        bool, typer.Option("--producer", help="What a producer needs on --topic.")
    ] = False,
    consumer: Annotated[
        bool, typer.Option("--consumer", help="What a consumer needs on --topic and --group.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the rules only; add none.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Add rules: each principal, resource and operation gets one."""
    with exit_codes():
        subjects = [
            *acl_rules.subjects_of(allow_principal or [], allow_host or [], acl_rules.ALLOW),
            *acl_rules.subjects_of(deny_principal or [], deny_host or [], acl_rules.DENY),
        ]
        kind = PatternType[pattern.name]
        if producer or consumer:
            _check_client(about, producer, consumer, operation or deny_principal, allow_principal)
            needs = [acl_rules.PRODUCER] * producer + [acl_rules.CONSUMER] * consumer
            found = [acl_rules.rules_of_client(each, about, subjects, kind) for each in needs]
            rules = list(dict.fromkeys(rule for each in found for rule in each))
        else:
            operations = [acl_rules.operation_of(each) for each in operation or ()]
            rules = acl_rules.rules_of(about, subjects, operations, kind)
    failed = {}
    if not dry_run:
        failed = admin_call(client, lambda admin: admin.create_acls(rules)).failed
    _show(output, [rule for rule in rules if rule not in failed])
    if dry_run:
        typer.echo("nothing is changed; repeat without --dry-run to add these rules", err=True)
    fail_with(failed)


@app.command("remove")
@connected(AdminConfig)
@joined("wanted", Filter)
@joined("about", resources)
def remove(
    client: Connection,
    about: list[Resource],
    wanted: Filter,
    execute: Annotated[
        bool, typer.Option("--execute", help="Remove these rules; without it, show them only.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show the rules that match all the words, and with --execute remove them."""
    if wanted.of(about) == [AclBindingFilter()]:
        raise typer.BadParameter("name what to remove, such as --topic or --principal")

    async def find_and_remove(admin: AIOKafkaAdminClient) -> list[AclBinding]:
        found = await _found(admin, wanted.of(about))
        if execute:
            (await admin.delete_acls([acl_rules.exactly(each) for each in found])).raise_first()
        return found

    _show(output, admin_call(client, find_and_remove))
    if not execute:
        typer.echo("nothing is changed; repeat with --execute to remove these rules", err=True)


def _check_client(
    about: list[Resource], producer: bool, consumer: bool, others: Texts, principals: Texts
) -> None:
    """Refuse words that --producer and --consumer do not take.

    Raises: KafkaConfigurationError.
    """
    needed = [ResourceType.TOPIC, *([ResourceType.GROUP] if consumer else [])]
    usable = {*needed, *([ResourceType.TRANSACTIONAL_ID] if producer else [])}
    kinds = {each.kind for each in about}
    if others or not principals:
        raise KafkaConfigurationError(
            "--producer and --consumer take --allow-principal, and no --operation or"
            " --deny-principal"
        )
    if not kinds.issuperset(needed) or not usable.issuperset(kinds):
        raise KafkaConfigurationError(
            "--producer takes --topic and --transactional-id, and --consumer needs --topic and"
            " --group; no other resources go with them"
        )


async def _found(admin: AIOKafkaAdminClient, filters: list[AclBindingFilter]) -> list[AclBinding]:
    found = [rule for each in filters for rule in await admin.describe_acls(each)]
    return sorted(set(found))


def _show(output: OutputFormat, rules: list[AclBinding]) -> None:
    show(output, "Access rules", acl_rules.COLUMNS, [acl_rules.row_of(rule) for rule in rules])


__all__ = [
    "Filter",
    "Pattern",
    "Permission",
    "WantedPattern",
    "add",
    "list_acls",
    "remove",
    "resources",
]
