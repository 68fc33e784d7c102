"""DescribeClientQuotas: the entities that match, with their quotas."""

import pytest

from aiokafka_lite.protocol.messages.alter_client_quotas import EntityData, OpData
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_client_quotas
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


@pytest.mark.parametrize("version", [0, 1])
def test_entities_are_told_with_their_quotas(version: int) -> None:
    bench = Bench()
    carol = [EntityData(entity_type="user", entity_name="carol")]
    ops = [OpData(key="producer_byte_rate", value=5.0)]
    bench.nodes[1].users.quotas.alter(carol, ops, validate_only=False)
    told = bench.ask(
        describe_client_quotas.HANDLER, DescribeClientQuotasRequest(components=[]), version
    )
    assert told.entries is not None
    (entry,) = told.entries
    assert [(each.entity_type, each.entity_name) for each in entry.entity] == [("user", "carol")]
    assert [(each.key, each.value) for each in entry.values] == [("producer_byte_rate", 5.0)]


def test_an_error_has_no_entries() -> None:
    bad = ComponentData(entity_type="planet", match_type=2, match=None)
    request = DescribeClientQuotasRequest(components=[bad])
    told = Bench().ask(describe_client_quotas.HANDLER, request, 1)
    assert (told.error_code, told.entries) == (35, None)
    told = Bench().ask(describe_client_quotas.HANDLER, request, 1, session=session("User:bob"))
    assert (told.error_code, told.entries) == (31, None)
