"""`aiokafka-lite groups list|describe|lag|reset-offsets|remove-member|delete`."""

from typing import Annotated

import typer

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.admin.groups.group_values import MemberToRemove
from aiokafka_lite.admin.groups.offset_reset_plan import COLUMNS, OffsetResetPlan
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.command import Output, fail_with
from aiokafka_lite.cli.connection import Connection, connected
from aiokafka_lite.cli.group_target import target_of
from aiokafka_lite.cli.lag_watch import COLUMNS_OF_LAG, lag_of, lost_of, rows_of, watch_lag
from aiokafka_lite.cli.output import OutputFormat, show
from aiokafka_lite.cli.start_offset import present_ms
from aiokafka_lite.errors import IllegalArgumentError, KafkaError
from aiokafka_lite.model import TopicPartition

app = typer.Typer(
    help="List, describe and delete groups; show their lag; reset their offsets.",
    no_args_is_help=True,
    add_completion=False,
)

Name = Annotated[str, typer.Argument(help="The group's name.")]


@app.command("list")
@connected(AdminConfig)
def list_groups(
    client: Connection,
    output: Output = OutputFormat.TABLE,
    state: Annotated[
        list[str] | None, typer.Option("--state", help="Such as Stable or Empty. Repeatable.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", help="classic, consumer or share. Repeatable.")
    ] = None,
) -> None:
    """List the groups of the cluster with their types and states."""
    groups = admin_call(client, lambda admin: admin.list_groups(state, kind))
    rows = [(each.group_id, each.type, each.protocol_type, each.state) for each in groups]
    show(output, "Groups", ("group", "type", "protocol", "state"), rows)


@app.command("describe")
@connected(AdminConfig)
def describe(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show the members of a group, and the partitions of each. An unknown group is an error."""
    found = admin_call(client, lambda admin: admin.describe_groups([name]))
    found.raise_first()
    group = found.succeeded[name]
    rows = [
        (
            *(each.member_id, each.group_instance_id, each.client_id, each.client_host),
            [f"{topic}-{index}" for topic, index in sorted(each.assignment)],
        )
        for each in group.members
    ]
    title = f"Group {name}: {group.type}, {group.state}, coordinator {group.coordinator}"
    columns = ("member", "instance", "client", "host", "partitions")
    show(output, title, columns, rows)


@app.command("lag")
@connected(AdminConfig)
def lag(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Look again and again.")] = False,
    interval_ms: Annotated[
        int, typer.Option("--interval-ms", min=1, help="Pause between two looks.")
    ] = 2_000,
    looks: Annotated[
        int | None, typer.Option("--num", "-n", min=1, help="End after so many looks.")
    ] = None,
) -> None:
    """Show how far a group is behind in each partition. An unknown group is an error."""
    if watch:
        admin_call(client, lambda admin: watch_lag(admin, name, output, interval_ms, looks))
        return
    found = admin_call(client, lambda admin: lag_of(admin, name))
    show(output, f"Lag of {name}", COLUMNS_OF_LAG, rows_of(found))
    for sentence in lost_of(found):
        typer.echo(sentence, err=True)
    fail_with({tp: each for tp, each in found.items() if isinstance(each, KafkaError)})


@app.command("reset-offsets")
@connected(AdminConfig)
def reset(
    client: Connection,
    name: Name,
    output: Output = OutputFormat.TABLE,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="earliest, latest, an offset, or a time, as `consume -o` has it."
        ),
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option("--by-duration", help="As long ago as that: 90s, 15m, 2h, 7d.")
    ] = None,
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", help="Records forward; backward if negative.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", help="Of this topic alone, or topic:partition. Repeatable."),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute", help="Carry out the plan; without it, show it only.")
    ] = False,
) -> None:
    """Show what a reset of offsets would do, and with --execute do it."""
    target = target_of(to, by_duration, shift_by, present_ms())
    partitions = [_topic_or_partition(each) for each in topic] if topic else None

    async def plan_and_do(
        admin: AIOKafkaAdminClient,
    ) -> tuple[OffsetResetPlan, dict[TopicPartition, KafkaError]]:
        plan = await admin.plan_offset_reset(name, to=target, partitions=partitions)
        if partitions is None and not plan.resets and not plan.failed:
            (await admin.describe_groups([name])).raise_first()
            raise IllegalArgumentError(
                f"group {quoted(name)} has no offsets yet; name the topics by --topic"
            )
        failed = dict(plan.failed)
        if execute:
            failed |= (await admin.reset_offsets(plan)).failed
        return plan, failed

    plan, failed = admin_call(client, plan_and_do)
    done = [row for row in plan.rows() if not execute or TopicPartition(*row[:2]) not in failed]
    if done or not failed or output is OutputFormat.JSON:
        show(output, f"Reset of {name}", COLUMNS, done)
    if not execute:
        then = "repeat with --execute to commit these offsets"
        typer.echo(f"nothing is changed; {plan.obstacle or then}", err=True)
    fail_with(failed)


@app.command("remove-member")
@connected(AdminConfig)
def remove_member(
    client: Connection,
    name: Name,
    members: Annotated[
        list[str] | None, typer.Argument(help="Member ids, as `describe` shows them.")
    ] = None,
    instance: Annotated[
        list[str] | None, typer.Option("--instance", help="A static member. Repeatable.")
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Remove every member.")] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", help="For the log of the broker.")
    ] = None,
) -> None:
    """Remove members from a group, which then rebalances. A consumer that runs joins again."""
    chosen: list[MemberToRemove] = [MemberToRemove(member_id=each) for each in members or []]
    chosen += [MemberToRemove(group_instance_id=each) for each in instance or []]
    if everyone == bool(chosen):
        raise typer.BadParameter("name members, --instance or --all, and not both")

    async def remove(admin: AIOKafkaAdminClient) -> Outcomes[MemberToRemove, None]:
        leaving = None if everyone else chosen
        return await admin.remove_members_from_consumer_group(name, leaving, reason)

    done = admin_call(client, remove)
    for member in done.succeeded:
        typer.echo(f"removed {member.group_instance_id or member.member_id}")
    fail_with(done.failed)


@app.command("delete")
@connected(AdminConfig)
def delete(
    client: Connection,
    names: Annotated[list[str], typer.Argument(help="The groups' names.")],
) -> None:
    """Delete groups without members, with their offsets."""
    done = admin_call(client, lambda admin: admin.delete_groups(names))
    for name in done.succeeded:
        typer.echo(f"deleted {name}")
    fail_with(done.failed)


def _topic_or_partition(text: str) -> TopicPartition | str:
    topic, colon, index = text.rpartition(":")
    if not colon:
        return text
    if not index.isdecimal():
        raise typer.BadParameter(f"--topic {quoted(text)}: write a topic, or topic:partition")
    return TopicPartition(topic, int(index))


__all__ = ["delete", "describe", "lag", "list_groups", "remove_member", "reset"]
