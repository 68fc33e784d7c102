"""Tokens are made, used, renewed, described and ended, on the embedded broker and real Kafka."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import DelegationToken
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    DelegationTokenAuthorizationFailed,
    DelegationTokenExpired,
    DelegationTokenNotFound,
    DelegationTokenOwnerMismatch,
    DelegationTokenRequestNotAllowed,
    InvalidPrincipalType,
    KafkaError,
    NotControllerError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.admin.security.conftest import OPTIONS, SecuredCluster, becomes

DAY_MS = 86_400_000


def by_token(cluster: SecuredCluster, token: DelegationToken) -> AIOKafkaAdminClient:
    return cluster.admin(
        token.token_id,
        sasl_mechanism="SCRAM-SHA-256",
        sasl_plain_password=token.password,
        sasl_scram_tokenauth=True,
        request_timeout_ms=5000,
    )


async def known(admin: AIOKafkaAdminClient, token: DelegationToken) -> None:
    """Wait until nodes know a token as it is: a moment after the response."""

    async def is_described() -> bool:
        return token in await admin.describe_delegation_tokens()

    await becomes(is_described, True)


async def test_a_token_logs_in_is_renewed_and_ends(
    cluster: SecuredCluster, admin: AIOKafkaAdminClient, bob: AIOKafkaAdminClient
) -> None:
    token = await admin.create_delegation_token(["bob"], max_lifetime_ms=2 * DAY_MS)
    assert (token.owner, token.renewers) == ("User:alice", ("User:bob",))
    assert token.max_timestamp - token.issue_timestamp == 2 * DAY_MS
    assert token.expiry_timestamp - token.issue_timestamp == DAY_MS

    async def described() -> list[DelegationToken]:
        tokens = await bob.describe_delegation_tokens(["User:alice"])
        return [each for each in tokens if each.token_id == token.token_id]

    await becomes(described, [token])

    async def logs_in() -> bool:
        client = by_token(cluster, token)
        try:
            await client.start()
            with pytest.raises(DelegationTokenRequestNotAllowed):
                await client.create_delegation_token()
        except AuthenticationFailedError:
            return False
        finally:
            await client.close()
        return True

    await becomes(logs_in, True)
    renewed = await bob.renew_delegation_token(token.hmac, 3_600_000)
    assert token.issue_timestamp < renewed - 3_600_000 < token.issue_timestamp + 60_000
    later = await admin.renew_delegation_token(Secret(token.hmac))
    assert later > renewed
    shortened = await admin.expire_delegation_token(token.hmac, 1_800_000)
    assert shortened < renewed
    assert await admin.expire_delegation_token(token.hmac) < shortened
    await becomes(described, [])
    await becomes(logs_in, False)
    with pytest.raises(DelegationTokenNotFound):
        await admin.expire_delegation_token(token.hmac)


async def test_tokens_of_others(admin: AIOKafkaAdminClient, bob: AIOKafkaAdminClient) -> None:
    token = await admin.create_delegation_token(owner="User:bob")
    assert token.owner == "User:bob"
    with pytest.raises(DelegationTokenAuthorizationFailed):
        await bob.create_delegation_token(owner="alice")
    with pytest.raises(InvalidPrincipalType):
        await admin.create_delegation_token(["Group:all"])
    mine = await admin.create_delegation_token()
    await known(admin, mine)
    for call in (bob.renew_delegation_token, bob.expire_delegation_token):
        with pytest.raises(DelegationTokenOwnerMismatch):
            await call(mine.hmac)
    with pytest.raises(DelegationTokenNotFound):
        await admin.renew_delegation_token(b"unknown")

    async def owners_for_bob() -> set[str]:
        return {each.owner for each in await bob.describe_delegation_tokens()}

    await becomes(owners_for_bob, {"User:bob"})
    assert await admin.describe_delegation_tokens([]) == []


async def test_an_ended_token_is_not_renewed(admin: AIOKafkaAdminClient) -> None:
    token = await admin.create_delegation_token()
    await known(admin, token)
    end = await admin.expire_delegation_token(token.hmac, 0)
    # Until the node knows the end, and in its very millisecond, a renewal would undo it.
    await known(admin, token._replace(expiry_timestamp=end))

    async def is_over() -> bool:
        return SYSTEM_CLOCK.time() * 1000 > end + 1

    await becomes(is_over, True)
    with pytest.raises(DelegationTokenExpired):
        await admin.renew_delegation_token(token.hmac)


async def test_a_connection_without_a_login_gets_no_token(any_kafka: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        with pytest.raises(DelegationTokenRequestNotAllowed):
            await admin.create_delegation_token()
        with pytest.raises(DelegationTokenRequestNotAllowed):
            await admin.describe_delegation_tokens()


async def test_a_lost_response_makes_no_second_token() -> None:
    async with EmbeddedBroker(**OPTIONS) as broker:
        cluster = SecuredCluster(broker.bootstrap_servers, broker.client_options)
        async with cluster.admin() as admin:
            broker.faults.cut(ApiKey.CREATE_DELEGATION_TOKEN)
            with pytest.raises(KafkaError):
                await admin.create_delegation_token()
            assert len(await admin.describe_delegation_tokens()) == 1
            broker.faults.fail(ApiKey.CREATE_DELEGATION_TOKEN, NotControllerError)
            await admin.create_delegation_token()  # refused once, and asked again
            assert len(await admin.describe_delegation_tokens()) == 2


async def test_javas_tool_sees_tokens(real_secured_cluster: SecuredCluster, tmp_path: Path) -> None:
    kafka = real_secured_cluster.kafka
    assert kafka is not None
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    config = tmp_path / "alice.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={login} username="alice" password="secret";\n'
    )
    async with real_secured_cluster.admin() as admin:
        token = await admin.create_delegation_token()
        gone = await admin.create_delegation_token()
        await known(admin, token)
        await known(admin, gone)
        end_ms = await admin.renew_delegation_token(token.hmac, 3 * 3_600_000)
        await admin.expire_delegation_token(gone.hmac)
        await known(admin, token._replace(expiry_timestamp=end_ms))

        async def is_known() -> bool:
            return gone.token_id in {x.token_id for x in await admin.describe_delegation_tokens()}

        await becomes(is_known, False)
    printed = await asyncio.to_thread(
        kafka.run_tool,
        "org.apache.kafka.tools.DelegationTokenCommand",
        *("--describe", "--owner-principal", "User:alice", "--command-config", str(config)),
        listener="SASL_PLAINTEXT",
    )
    lines = [line.split() for line in printed.splitlines() if token.token_id in line]
    assert len(lines) == 1, printed
    assert token.password.reveal_text() in lines[0]
    assert "User:alice" in lines[0]
    end = datetime.fromtimestamp(end_ms / 1000, UTC).astimezone()
    assert end.strftime("%Y-%m-%dT%H:%M") in lines[0]
    assert gone.token_id not in printed
