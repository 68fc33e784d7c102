"""Quotas are set, checked, described and removed, on the embedded broker and on real Kafka."""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import ClientQuotaAlteration, ClientQuotaEntity
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    UnsupportedVersionError,
)
from tests.admin.security.conftest import SecuredCluster, becomes


async def test_quotas_are_set_described_and_removed(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    user: dict[str, str | None] = {"user": topic_name}
    both = user | {"client-id": None}

    async def described() -> object:
        return await admin.describe_client_quotas(user)

    rates = {"producer_byte_rate": 1000.0, "request_percentage": 12.5}
    wanted = [
        ClientQuotaAlteration(user, rates),
        ClientQuotaAlteration(both, {"consumer_byte_rate": 5}),
    ]
    checked = await admin.alter_client_quotas(wanted, validate_only=True)
    assert list(checked.items()) == [(user, None), (both, None)]
    assert await described() == {}
    assert not (await admin.alter_client_quotas(wanted)).failed
    await becomes(
        lambda: _as_pairs(admin, user), [(both, {"consumer_byte_rate": 5}), (user, rates)]
    )
    assert await _as_pairs(admin, user, strict=True) == [(user, rates)]
    assert await _as_pairs(admin, {"client-id": None, **user}) == [
        (both, {"consumer_byte_rate": 5})
    ]
    removed = [
        ClientQuotaAlteration(user, dict.fromkeys(rates)),
        ClientQuotaAlteration(both, {"consumer_byte_rate": None}),
    ]
    assert not (await admin.alter_client_quotas(removed)).failed
    await becomes(described, {})


async def _as_pairs(
    admin: AIOKafkaAdminClient, entity: dict[str, str | None], *, strict: bool = False
) -> list[object]:
    found = await admin.describe_client_quotas(entity, strict=strict)
    return sorted(((dict(key), each) for key, each in found.items()), key=repr)


async def test_every_entity_of_a_type_is_found(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    rate = {"connection_creation_rate": 7.0}
    await admin.alter_client_quotas(
        [
            ClientQuotaAlteration({"ip": "127.0.0.9"}, rate),
            ClientQuotaAlteration({"ip": None}, rate),
            ClientQuotaAlteration({"user": topic_name}, {"producer_byte_rate": 1.0}),
        ]
    )
    await becomes(
        lambda: _as_pairs(admin, {"ip": "*"}), [({"ip": "127.0.0.9"}, rate), ({"ip": None}, rate)]
    )
    assert {"user": topic_name} in [dict(each) for each in await admin.describe_client_quotas()]


async def test_a_bad_quota_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    good = ClientQuotaAlteration({"user": topic_name}, {"producer_byte_rate": 1.0})
    bad = ClientQuotaAlteration({"user": f"{topic_name}-2"}, {"speed": 1.0})
    answer = await admin.alter_client_quotas([bad, good])
    assert list(answer) == [bad.entity, good.entity]
    assert list(answer.succeeded) == [good.entity]
    with pytest.raises(InvalidRequestError, match=rf"user {topic_name}-2: .*key speed"):
        answer.raise_first()


async def test_a_question_that_the_brokers_do_not_have_is_refused(
    admin: AIOKafkaAdminClient,
) -> None:
    with pytest.raises(InvalidRequestError, match="IP filter component"):
        await admin.describe_client_quotas({"ip": None, "user": None})
    with pytest.raises(UnsupportedVersionError, match="planet"):
        await admin.describe_client_quotas({"planet": "mars"})


async def test_a_user_without_rights_is_refused(bob: AIOKafkaAdminClient) -> None:
    with pytest.raises(ClusterAuthorizationFailedError):
        await bob.describe_client_quotas()
    wanted = ClientQuotaAlteration({"user": "bob"}, {"producer_byte_rate": 1.0})
    refused = await bob.alter_client_quotas([wanted])
    assert isinstance(refused[ClientQuotaEntity(wanted.entity)], ClusterAuthorizationFailedError)


@pytest.mark.needs_kafka("3.5", "passwords of SCRAM with KRaft, which the tool shows, too")
async def test_javas_tool_sees_a_quota(
    real_secured_cluster: SecuredCluster, topic_name: str
) -> None:
    kafka = real_secured_cluster.kafka
    assert kafka is not None
    async with real_secured_cluster.admin() as admin:
        wanted = ClientQuotaAlteration({"user": topic_name}, {"producer_byte_rate": 1234.0})
        assert not (await admin.alter_client_quotas([wanted])).failed
        await becomes(lambda: _as_pairs(admin, {"user": topic_name}), [(wanted.entity, wanted.ops)])
    printed = await asyncio.to_thread(
        kafka.run_tool,
        "kafka.admin.ConfigCommand",
        *("--describe", "--entity-type", "users", "--entity-name", topic_name),
    )
    assert "producer_byte_rate=1234.0" in printed
