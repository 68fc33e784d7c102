"""SCRAM passwords are set, described and removed, and log users in, here and on real Kafka."""

import asyncio
from typing import Any

import confluent_kafka.admin
import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    ClusterAuthorizationFailedError,
    DuplicateResourceError,
    IllegalArgumentError,
    ResourceNotFoundError,
    UnacceptableCredentialError,
    UnsupportedSaslMechanismError,
)
from aiokafka_lite.secret import Secret
from tests.admin.security.conftest import SecuredCluster, becomes

confluent: Any = confluent_kafka.admin
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
Upsertion, Deletion = UserScramCredentialUpsertion, UserScramCredentialDeletion


async def may_log_in(cluster: SecuredCluster, user: str, password: object, mechanism: str) -> bool:
    admin = cluster.admin(
        user, sasl_mechanism=mechanism, sasl_plain_password=password, request_timeout_ms=5000
    )
    try:
        await admin.start()
    except AuthenticationFailedError:
        return False
    finally:
        await admin.close()
    return True


@pytest.mark.parametrize("password", ["pässwörd", b"bytes", Secret("hidden")])
async def test_a_user_is_made_and_logs_in_until_it_is_removed(
    cluster: SecuredCluster, admin: AIOKafkaAdminClient, topic_name: str, password: Any
) -> None:
    user = topic_name
    assert await admin.alter_user_scram_credentials([Upsertion(user, SHA_512, 4096, password)]) == {
        user: None
    }

    async def described() -> object:
        return (await admin.describe_user_scram_credentials([user])).succeeded

    await becomes(described, {user: [(SHA_512, 4096)]})

    async def logs_in() -> bool:
        return await may_log_in(cluster, user, password, "SCRAM-SHA-512")

    await becomes(logs_in, True)
    assert not await may_log_in(cluster, user, "wrong", "SCRAM-SHA-512")
    assert not await may_log_in(cluster, user, password, "SCRAM-SHA-256")
    removed = await admin.alter_user_scram_credentials([Deletion(user, SHA_512)])
    assert removed == {user: None}
    await becomes(described, {})
    await becomes(logs_in, False)


@pytest.mark.needs_kafka("3.5", "passwords of SCRAM with KRaft")
@pytest.mark.usefixtures("others_may_leak")
async def test_a_user_of_confluents_is_described_and_ours_by_confluent(
    cluster: SecuredCluster, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    theirs = confluent.AdminClient(cluster.confluent())
    if cluster.kafka is None:
        # librdkafka's request has a byte too many, which the embedded broker refuses.
        await admin.alter_user_scram_credentials([Upsertion(topic_name, SHA_256, 5000, "secret")])
    else:
        info = confluent.ScramCredentialInfo(confluent.ScramMechanism.SCRAM_SHA_256, 5000)
        wanted = confluent.UserScramCredentialUpsertion(topic_name, info, b"secret")
        (future,) = theirs.alter_user_scram_credentials([wanted]).values()
        await asyncio.to_thread(future.result, 30)
    mine = f"{topic_name}-mine"
    await admin.alter_user_scram_credentials(
        [Upsertion(mine, SHA_256, 4097, "secret", b"salt" * 4)]
    )

    async def all_described() -> object:
        found = await admin.describe_user_scram_credentials()
        return {user: each for user, each in found.items() if user.startswith(topic_name)}

    await becomes(all_described, {topic_name: [(SHA_256, 5000)], mine: [(SHA_256, 4097)]})
    (future,) = theirs.describe_user_scram_credentials([mine]).values()
    found = await asyncio.to_thread(future.result, 30)
    assert [each.iterations for each in found.scram_credential_infos] == [4097]


async def test_bad_users_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    names = [f"{topic_name}-{kind}" for kind in ("few", "many", "gone", "good", "new", "twice")]
    few, many, gone, good, new, twice = names
    answer = await admin.alter_user_scram_credentials(
        [
            Upsertion(few, SHA_256, 1, "secret"),
            Upsertion(many, SHA_256, 16_385, "secret"),
            Deletion(gone, SHA_256),
            Upsertion(good, SHA_256, 4096, "secret"),
            Upsertion(new, 3, 4096, "secret"),  # type: ignore[arg-type]
            Upsertion(twice, SHA_256, 4096, "secret"),
            Upsertion(twice, SHA_512, 4096, "secret"),
        ]
    )
    assert list(answer) == names
    assert {user: type(error) for user, error in answer.failed.items()} == {
        few: UnacceptableCredentialError,
        many: UnacceptableCredentialError,
        gone: ResourceNotFoundError,
        new: UnsupportedSaslMechanismError,
        twice: DuplicateResourceError,
    }

    async def described() -> list[str]:
        return list((await admin.describe_user_scram_credentials([gone, good])).succeeded)

    await becomes(described, [good])
    found = await admin.describe_user_scram_credentials([gone, good])
    assert list(found) == [gone, good]
    assert isinstance(found[gone], ResourceNotFoundError)
    assert await admin.describe_user_scram_credentials([]) == {}


async def test_a_user_without_rights_is_refused(bob: AIOKafkaAdminClient) -> None:
    for users in (None, ["bob"]):
        with pytest.raises(ClusterAuthorizationFailedError):
            await bob.describe_user_scram_credentials(users)
    refused = await bob.alter_user_scram_credentials([Upsertion("bob", SHA_256, 4096, "x")])
    assert isinstance(refused["bob"], ClusterAuthorizationFailedError)


@pytest.mark.parametrize("password", ["", b"", "\ud800"])
async def test_a_password_that_cannot_be_is_refused_before_anything_is_sent(
    admin: AIOKafkaAdminClient, topic_name: str, password: str
) -> None:
    good = Upsertion(topic_name, SHA_256, 4096, "secret")
    with pytest.raises(IllegalArgumentError, match="the password of user 'x'"):
        await admin.alter_user_scram_credentials([good, Upsertion("x", SHA_256, 4096, password)])
    with pytest.raises(IllegalArgumentError, match="iterations=1000001 of user 'x'"):
        await admin.alter_user_scram_credentials([Upsertion("x", SHA_256, 1_000_001, "secret")])
    found = await admin.describe_user_scram_credentials([topic_name])
    assert isinstance(found[topic_name], ResourceNotFoundError)
