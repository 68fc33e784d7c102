"""The rows of calls about the cluster, and about users, their rights and their limits."""

from uuid import UUID

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ClientQuotaAlteration,
    FeatureUpdate,
    PatternType,
    QuorumEndpoint,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from aiokafka_lite.errors import (
    BrokerIdNotRegisteredError,
    ClusterAuthorizationFailedError,
    ControllerIdNotRegisteredError,
    DelegationTokenAuthorizationFailed,
    DelegationTokenOwnerMismatch,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from tests.admin.support.call_table import CONTROLLER, Call, Mixed, Things, row, several

Admin = AIOKafkaAdminClient
CLUSTER = ClusterAuthorizationFailedError
OWNER = (DelegationTokenOwnerMismatch, "neither owns nor may renew")
FEATURE = "transaction.version"


def rule(topic: str) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC,
        topic,
        PatternType.LITERAL,
        "User:carol",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )


# The cluster…


@row(ApiKey.METADATA, None, lambda answer: len(answer["brokers"]) == 3)
async def describe_cluster(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_cluster(ms)


@row(ApiKey.API_VERSIONS, None, lambda answer: FEATURE in answer.finalized)
async def describe_features(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_features(ms)


@row(ApiKey.UPDATE_FEATURES, CONTROLLER, (CLUSTER, "ALTER"))
async def update_features(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.update_features({FEATURE: FeatureUpdate(2)}, timeout_ms=ms)


@row(ApiKey.DESCRIBE_QUORUM, CONTROLLER, (CLUSTER, "DESCRIBE"))
async def describe_metadata_quorum(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_metadata_quorum(ms)


@row(
    ApiKey.UNREGISTER_BROKER,
    CONTROLLER,
    (CLUSTER, "ALTER"),
    expected=BrokerIdNotRegisteredError,
)
async def unregister_broker(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.unregister_broker(9, ms)


@row(
    ApiKey.UNREGISTER_CONTROLLER,
    CONTROLLER,
    (CLUSTER, "ALTER"),
    expected=ControllerIdNotRegisteredError,
)
async def unregister_controller(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.unregister_controller(9, ms)


@row(
    ApiKey.ADD_RAFT_VOTER,
    CONTROLLER,
    (CLUSTER, "ALTER"),
    expected=UnsupportedVersionError,
    is_repeatable=False,
)
async def add_raft_voter(_: Things, __: Admin) -> Call:
    endpoints = [QuorumEndpoint("CONTROLLER", "localhost", 9093)]
    return lambda admin, ms: admin.add_raft_voter(9, UUID(int=9), endpoints, ms)


@row(
    ApiKey.REMOVE_RAFT_VOTER,
    CONTROLLER,
    (CLUSTER, "ALTER"),
    expected=UnsupportedVersionError,
    is_repeatable=False,
)
async def remove_raft_voter(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.remove_raft_voter(9, UUID(int=9), ms)


# Rules…


@row(ApiKey.CREATE_ACLS, CONTROLLER, (CLUSTER, "ALTER"))
async def create_acls(things: Things, _: Admin) -> Call:
    binding = rule(things.name())
    return lambda admin, ms: admin.create_acls([binding], ms)


@several
async def mixed_create_acls(things: Things, _: Admin) -> Mixed:
    name = things.name()
    bad = rule(name)._replace(principal="carol")
    return lambda admin: admin.create_acls([bad, rule(name)])


@row(ApiKey.DESCRIBE_ACLS, CONTROLLER, (CLUSTER, "DESCRIBE"))
async def describe_acls(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_acls(AclBindingFilter(), ms)


@row(ApiKey.DELETE_ACLS, CONTROLLER, (CLUSTER, "ALTER"))
async def delete_acls(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.delete_acls([AclBindingFilter(principal="User:carol")], ms)


@several
async def mixed_delete_acls(things: Things, _: Admin) -> Mixed:
    bad = AclBindingFilter(operation=AclOperation.UNKNOWN)
    return lambda admin: admin.delete_acls([bad, AclBindingFilter(resource_name=things.name())])


# Limits…


@row(ApiKey.DESCRIBE_CLIENT_QUOTAS, CONTROLLER, (CLUSTER, "DESCRIBE_CONFIGS"))
async def describe_client_quotas(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_client_quotas(timeout_ms=ms)


def limit(user: str, name: str = "producer_byte_rate") -> ClientQuotaAlteration:
    return ClientQuotaAlteration({"user": user}, {name: 1.0})


@row(ApiKey.ALTER_CLIENT_QUOTAS, CONTROLLER, (CLUSTER, "ALTER_CONFIGS"))
async def alter_client_quotas(things: Things, _: Admin) -> Call:
    change = limit(things.name())
    return lambda admin, ms: admin.alter_client_quotas([change], timeout_ms=ms)


@several
async def mixed_alter_client_quotas(things: Things, _: Admin) -> Mixed:
    changes = [limit(things.name(), "no_such_limit"), limit(things.name())]
    return lambda admin: admin.alter_client_quotas(changes)


# Users…


@row(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, CONTROLLER, (CLUSTER, "DESCRIBE"))
async def describe_user_scram_credentials(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_user_scram_credentials(timeout_ms=ms)


def password(user: str) -> UserScramCredentialUpsertion:
    return UserScramCredentialUpsertion(user, ScramMechanism.SCRAM_SHA_256, 4096, "secret")


@row(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, CONTROLLER, (CLUSTER, "ALTER"))
async def alter_user_scram_credentials(things: Things, _: Admin) -> Call:
    change = password(things.name())
    return lambda admin, ms: admin.alter_user_scram_credentials([change], ms)


@several
async def mixed_alter_user_scram_credentials(things: Things, _: Admin) -> Mixed:
    bad = UserScramCredentialDeletion(things.name(), ScramMechanism.SCRAM_SHA_256)
    good = password(things.name())
    return lambda admin: admin.alter_user_scram_credentials([bad, good])


@row(
    ApiKey.CREATE_DELEGATION_TOKEN,
    CONTROLLER,
    (DelegationTokenAuthorizationFailed, "CREATE_TOKENS"),
    is_repeatable=False,
)
async def create_delegation_token(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.create_delegation_token(owner="User:root", timeout_ms=ms)


@row(ApiKey.DESCRIBE_DELEGATION_TOKEN, None, lambda answer: answer == [])
async def describe_delegation_tokens(things: Things, root: Admin) -> Call:
    await things.token(root)
    return lambda admin, ms: admin.describe_delegation_tokens(timeout_ms=ms)


@row(
    ApiKey.RENEW_DELEGATION_TOKEN,
    CONTROLLER,
    OWNER,
)
async def renew_delegation_token(things: Things, root: Admin) -> Call:
    token = await things.token(root)
    return lambda admin, ms: admin.renew_delegation_token(token.hmac, timeout_ms=ms)


@row(
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    CONTROLLER,
    OWNER,
)
async def expire_delegation_token(things: Things, root: Admin) -> Call:
    token = await things.token(root)
    return lambda admin, ms: admin.expire_delegation_token(token.hmac, 60_000, ms)
