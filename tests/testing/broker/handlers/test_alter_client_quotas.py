"""AlterClientQuotas: each entity has its result."""

import pytest

from aiokafka_lite.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from aiokafka_lite.testing.broker.handlers import alter_client_quotas
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


def entry(user: str, key: str = "producer_byte_rate") -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type="user", entity_name=user)], ops=[OpData(key=key, value=1.0)]
    )


@pytest.mark.parametrize("version", [0, 1])
def test_each_entity_has_its_result(version: int) -> None:
    bench = Bench()
    request = AlterClientQuotasRequest(entries=[entry("a"), entry("b", "speed"), entry("a")])
    told = bench.ask(alter_client_quotas.HANDLER, request, version)
    results = [(each.entity[0].entity_name, each.error_code) for each in told.entries]
    assert results == [("a", 42), ("b", 42)]  # the second a is refused, the first one stored
    assert told.entries[0].error_message is not None
    assert told.entries[0].error_message.startswith("Ignoring duplicate entity")
    stored = bench.nodes[1].users.quotas.find([], strict=False)
    assert [(set(entity), values) for entity, values in stored] == [
        ({("user", "a")}, {"producer_byte_rate": 1.0})
    ]


def test_the_right_to_alter_configs_is_needed() -> None:
    request = AlterClientQuotasRequest(entries=[entry("a")])
    told = Bench().ask(alter_client_quotas.HANDLER, request, 1, session=session("User:bob"))
    assert [each.error_code for each in told.entries] == [31]
