"""The quorum's log grows with each change of users, rights, quotas, settings and features."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ClientQuotaAlteration,
    ConfigResource,
    FeatureUpdate,
    PatternType,
    ResourceType,
    ScramMechanism,
    UpgradeType,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from aiokafka_lite.testing.broker import EmbeddedBroker

Change = Callable[[AIOKafkaAdminClient], Awaitable[Any]]

SHA_256 = ScramMechanism.SCRAM_SHA_256
RIGHT = AclBinding(
    ResourceType.TOPIC,
    "t",
    PatternType.LITERAL,
    "User:bob",
    "*",
    AclOperation.READ,
    AclPermissionType.ALLOW,
)
OTHER_RIGHT = RIGHT._replace(operation=AclOperation.WRITE)
BAD_RIGHT = RIGHT._replace(principal="bob")
TRANSACTIONS = "transaction.version"


def quotas(**values: float | None) -> Change:
    change = ClientQuotaAlteration({"user": "bob"}, values)
    return lambda admin: admin.alter_client_quotas([change])


def setting(kind: str, name: str, value: str) -> Change:
    resource = ConfigResource(kind, "x", {name: value})
    return lambda admin: admin.incremental_alter_configs([resource])


async def token(admin: AIOKafkaAdminClient) -> None:
    made = await admin.create_delegation_token()
    await admin.renew_delegation_token(made.hmac)
    await admin.expire_delegation_token(made.hmac)


CHANGES: list[tuple[int, Change]] = [
    (0, lambda admin: admin.describe_acls(AclBindingFilter())),
    (2, lambda admin: admin.create_acls([RIGHT, OTHER_RIGHT, BAD_RIGHT])),
    (0, lambda admin: admin.create_acls([RIGHT])),
    (2, lambda admin: admin.delete_acls([AclBindingFilter()])),
    (0, lambda admin: admin.delete_acls([AclBindingFilter()])),
    (2, quotas(producer_byte_rate=1.0, consumer_byte_rate=2.0)),
    (1, quotas(producer_byte_rate=1.0, consumer_byte_rate=3.0)),
    (2, quotas(producer_byte_rate=None, consumer_byte_rate=None)),
    (
        1,
        lambda admin: admin.alter_user_scram_credentials(
            [UserScramCredentialUpsertion("bob", SHA_256, 4096, "secret")]
        ),
    ),
    (
        1,
        lambda admin: admin.alter_user_scram_credentials(
            [
                UserScramCredentialDeletion("bob", SHA_256),
                UserScramCredentialDeletion("nobody", SHA_256),
            ]
        ),
    ),
    (3, token),
    (1, setting("GROUP", "consumer.session.timeout.ms", "50000")),
    (1, setting("CLIENT_METRICS", "interval.ms", "1000")),
    (
        1,
        lambda admin: admin.update_features(
            {TRANSACTIONS: FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)}
        ),
    ),
    (0, lambda admin: admin.update_features({TRANSACTIONS: FeatureUpdate(1)})),
]
"""Changes, and how many records Apache Kafka's controller writes for each."""


async def test_each_change_is_a_record() -> None:
    async with (
        EmbeddedBroker(
            security="SASL_PLAINTEXT", users={"root": "secret"}, acls=[], super_users=["root"]
        ) as broker,
        AIOKafkaAdminClient(
            bootstrap_servers=broker.bootstrap_servers, **broker.client_options("root")
        ) as admin,
    ):

        async def end_offset() -> int:
            quorum = await admin.describe_metadata_quorum()
            assert quorum.high_watermark == quorum.voters[0].log_end_offset
            return quorum.high_watermark

        grown = []
        for _, change in CHANGES:
            before = await end_offset()
            await change(admin)
            grown.append(await end_offset() - before)
    assert grown == [records for records, _ in CHANGES]
