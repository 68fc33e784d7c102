"""Access rules are created, described and deleted, on the embedded broker and on real Kafka."""

import asyncio
from typing import Any

import confluent_kafka.admin
import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    NewTopic,
    PatternType,
    ResourceType,
)
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    KafkaError,
    SecurityDisabled,
)
from tests.admin.security.conftest import SecuredCluster, becomes

confluent: Any = confluent_kafka.admin


def rule(
    name: str,
    operation: AclOperation = AclOperation.READ,
    principal: str = "User:carol",
    pattern: PatternType = PatternType.LITERAL,
) -> AclBinding:
    allow = AclPermissionType.ALLOW
    return AclBinding(ResourceType.TOPIC, name, pattern, principal, "*", operation, allow)


async def seen_by_confluent(cluster: SecuredCluster, name: str) -> set[tuple[str, str]]:
    """(principal, operation) of the rules about one topic, as confluent-kafka describes them."""
    wanted = confluent.AclBindingFilter(
        confluent.ResourceType.TOPIC,
        name,
        confluent.ResourcePatternType.LITERAL,
        None,
        None,
        confluent.AclOperation.ANY,
        confluent.AclPermissionType.ANY,
    )
    theirs = confluent.AdminClient(cluster.confluent())
    future = theirs.describe_acls(wanted, request_timeout=30)
    found = await asyncio.to_thread(future.result, 30)
    return {(each.principal, each.operation.name) for each in found}


@pytest.mark.usefixtures("others_may_leak")
async def test_rules_are_created_described_and_deleted(
    cluster: SecuredCluster, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    mine = [rule(topic_name), rule(topic_name, AclOperation.WRITE, "User:dave")]
    assert await admin.create_acls([*mine, rule(f"{topic_name}-", pattern=PatternType.PREFIXED)])
    about = AclBindingFilter(ResourceType.TOPIC, topic_name, PatternType.LITERAL)

    async def seen() -> set[AclBinding]:
        return set(await admin.describe_acls(about))

    await becomes(seen, set(mine))
    expected = {("User:carol", "READ"), ("User:dave", "WRITE")}
    assert await seen_by_confluent(cluster, topic_name) == expected
    matching = AclBindingFilter(ResourceType.TOPIC, f"{topic_name}-1", PatternType.MATCH)
    assert await admin.describe_acls(matching) == [
        rule(f"{topic_name}-", pattern=PatternType.PREFIXED)
    ]
    nothing = AclBindingFilter(principal="User:nobody")
    gone = await admin.delete_acls([about, nothing])
    assert {key: set(each) for key, each in gone.succeeded.items()} == {
        about: set(mine),
        nothing: set(),
    }
    await becomes(seen, set())
    assert await seen_by_confluent(cluster, topic_name) == set()


@pytest.mark.needs_kafka("3.9", "check of the principals in rules")
async def test_bad_rules_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    good, unnamed = rule(topic_name), rule(topic_name, principal="carol")
    of_all = rule(topic_name, AclOperation.ANY)
    newer = rule(topic_name, AclOperation.UNKNOWN)
    answer = await admin.create_acls([unnamed, of_all, newer, good])
    assert list(answer) == [unnamed, of_all, newer, good]
    assert list(answer.succeeded) == [good]
    assert {type(error) for error in answer.failed.values()} == {InvalidRequestError}
    assert "Could not parse principal" in str(answer[unnamed])
    assert "operation=ANY is for filters" in str(answer[of_all])
    assert "operation=<AclOperation.UNKNOWN: 0> is none that this client" in str(answer[newer])


async def test_a_bad_filter_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    await admin.create_acls([rule(topic_name)])
    good = AclBindingFilter(resource_name=topic_name)

    async def is_known() -> bool:
        return await admin.describe_acls(good) == [rule(topic_name)]

    await becomes(is_known, True)
    # What `describe_acls` returns for a rule of a newer broker is UNKNOWN.
    newer = AclBindingFilter(operation=AclOperation(99), resource_name=topic_name)
    number: Any = AclBindingFilter(resource_type=99)  # type: ignore[arg-type]
    word: Any = AclBindingFilter(permission_type="ALLOW")  # type: ignore[arg-type]
    gone = await admin.delete_acls([newer, good, number, word])
    assert list(gone) == [newer, good, number, word]
    assert gone.succeeded == {good: [rule(topic_name)]}
    assert {type(error) for error in gone.failed.values()} == {InvalidRequestError}
    told = r"operation=<AclOperation.UNKNOWN: 0> is none .*; name one of ANY, ALL, READ, "
    with pytest.raises(InvalidRequestError, match=told):
        gone.raise_first()
    with pytest.raises(InvalidRequestError, match=told):
        await admin.describe_acls(newer)


async def test_a_user_without_rights_is_refused(bob: AIOKafkaAdminClient, topic_name: str) -> None:
    created = await bob.create_acls([rule(topic_name)])
    assert isinstance(created[rule(topic_name)], ClusterAuthorizationFailedError)
    with pytest.raises(ClusterAuthorizationFailedError):
        await bob.describe_acls(AclBindingFilter())
    deleted = await bob.delete_acls([AclBindingFilter()])
    assert isinstance(deleted[AclBindingFilter()], ClusterAuthorizationFailedError)


async def test_a_rule_holds_for_connections_that_are_open(
    admin: AIOKafkaAdminClient, bob: AIOKafkaAdminClient, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    assert topic_name not in await bob.list_topics()
    await admin.create_acls([rule(topic_name, AclOperation.DESCRIBE, "User:bob")])

    async def is_listed() -> bool:
        return topic_name in await bob.list_topics()

    await becomes(is_listed, True)
    await admin.delete_acls([AclBindingFilter(resource_name=topic_name)])
    await becomes(is_listed, False)


async def test_without_an_authorizer_security_is_disabled(any_kafka: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        with pytest.raises(SecurityDisabled, match="No Authorizer is configured"):
            await admin.describe_acls(AclBindingFilter())
        created = await admin.create_acls([rule("t"), rule("u")])
        deleted = await admin.delete_acls([AclBindingFilter()])
    errors: list[KafkaError] = [*created.failed.values(), *deleted.failed.values()]
    assert [type(error) for error in errors] == [SecurityDisabled] * 3
