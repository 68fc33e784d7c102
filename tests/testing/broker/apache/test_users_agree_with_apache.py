"""ACLs, quotas, SCRAM users and tokens: the same answers here and on a real Kafka, texts included.

Where Apache Kafka gives no text, an empty one counts as none.
"""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.create_acls import CreateAclsRequest
from aiokafka_lite.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import NEWEST_FIRST, require_kafka
from tests.testing.broker.apache.user_requests import (
    PASSWORDS,
    acl_steps,
    answers,
    codes,
    find,
    quota_steps,
    refused_steps,
    rule,
    scram_steps,
    shape,
    token_answers,
)
from tests.testing.broker.bench import WireClient

STEPS = {"acls": acl_steps, "quotas": quota_steps, "scram": scram_steps}
NO_AUTHORIZER = {
    "describe": DescribeAclsRequest(**find()),
    "create": CreateAclsRequest(creations=[rule(), rule(resource_name="")]),
    "delete": DeleteAclsRequest(filters=[DeleteAclsFilter(**find())]),
}


def embedded_broker() -> EmbeddedBroker:
    # PLAIN only, as on the real broker: so nobody has a SCRAM password at first.
    return EmbeddedBroker(
        security="SASL_PLAINTEXT",
        users=PASSWORDS,
        mechanisms=["PLAIN"],
        acls=[],
        super_users=["alice"],
    )


async def logged_in(stack: AsyncExitStack, servers: str, user: str) -> WireClient:
    client = await stack.enter_async_context(await WireClient.connect(servers))
    assert (await client.log_in(user, PASSWORDS[user])).error_code == 0
    return client


async def here(family: str) -> dict[str, Any]:
    async with embedded_broker() as broker, AsyncExitStack() as stack:
        client = await logged_in(stack, broker.bootstrap_servers, "alice")
        return await answers(client, STEPS[family]())


@pytest.fixture(scope="module", params=NEWEST_FIRST)
def kafka(request: pytest.FixtureRequest) -> Iterator[ApacheKafka]:
    require_kafka(request.param)
    with ApacheKafka(
        request.param,
        security="SASL_PLAINTEXT",
        users=PASSWORDS,
        mechanisms=["PLAIN"],
        acls=[],
        super_users=["alice"],
    ) as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()  # an orderly end takes seconds, and leaves nothing either


@pytest.mark.parametrize("family", STEPS)
async def test_each_request_has_the_same_answer(kafka: ApacheKafka, family: str) -> None:
    expected = await here(family)
    async with AsyncExitStack() as stack:
        client = await logged_in(stack, kafka.bootstrap_servers, "alice")
        assert await answers(client, STEPS[family](), expected) == expected


async def test_a_user_without_rights_is_refused_the_same(kafka: ApacheKafka) -> None:
    found = []
    async with embedded_broker() as broker, AsyncExitStack() as stack:
        for servers in (broker.bootstrap_servers, kafka.bootstrap_servers):
            client = await logged_in(stack, servers, "bob")
            told = await answers(client, refused_steps())
            found.append({name: codes(answer) for name, answer in told.items()})
    assert found[0] == found[1]
    assert found[0]["create rules"] == [31, 31]


async def test_tokens_have_the_same_answers(kafka: ApacheKafka) -> None:
    found: list[dict[str, Any]] = []
    async with embedded_broker() as broker, AsyncExitStack() as stack:
        plain = await stack.enter_async_context(EmbeddedBroker(acls=[]))
        for servers, without_login in (
            (broker.bootstrap_servers, plain.bootstrap_servers),
            (kafka.bootstrap_servers, kafka.servers("PLAINTEXT")),
        ):
            stranger = await stack.enter_async_context(await WireClient.connect(without_login))
            alice = await logged_in(stack, servers, "alice")
            bob = await logged_in(stack, servers, "bob")
            found.append(await token_answers(alice, bob, stranger, *found))
    assert found[0] == found[1]


async def test_without_an_authorizer_security_is_disabled(any_kafka: str) -> None:
    async with await WireClient.connect(any_kafka) as client:
        told = {
            name: codes(shape(await client.ask(request))) for name, request in NO_AUTHORIZER.items()
        }
    assert told == {"describe": [54], "create": [54, 54], "delete": [54]}
