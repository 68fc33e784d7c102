"""Says which right a call needs, in the error of a user that lacks it. Does not wait.

Kafka's errors name the thing, and at most the right that was checked first. The table has what the
brokers check (docs.kafka, "Authorization and ACLs", Protocols).
"""

from typing import Final, TypeVar

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    DelegationTokenAuthorizationFailed,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)

V = TypeVar("V")

_TOPIC: Final = TopicAuthorizationFailedError
_GROUP: Final = GroupAuthorizationFailedError
_TRANSACTION: Final = TransactionalIdAuthorizationFailed
_CLUSTER: Final = ClusterAuthorizationFailedError
_TOKEN: Final = DelegationTokenAuthorizationFailed
_Rights = dict[type[BrokerResponseError], str]
_DEFAULTS: Final[_Rights] = {
    _TOPIC: "DESCRIBE on the topic",
    _GROUP: "DESCRIBE on the group",
    _TRANSACTION: "DESCRIBE on the transactional id",
    _CLUSTER: "DESCRIBE on the cluster",
    _TOKEN: "DESCRIBE on the delegation token",
}
_ALTER: Final[_Rights] = {_CLUSTER: "ALTER on the cluster"}
_ALTER_CONFIGS: Final[_Rights] = {
    _TOPIC: "ALTER_CONFIGS on the topic",
    _GROUP: "ALTER_CONFIGS on the group",
    _CLUSTER: "ALTER_CONFIGS on the cluster",
}
_DESCRIBE_CONFIGS: Final[_Rights] = {
    _TOPIC: "DESCRIBE_CONFIGS on the topic",
    _GROUP: "DESCRIBE_CONFIGS on the group",
    _CLUSTER: "DESCRIBE_CONFIGS on the cluster",
}
_OFFSETS: Final[_Rights] = {
    _TOPIC: "READ on the topic",
    _GROUP: "READ on the group",
}
_OFFSETS_DELETED: Final[_Rights] = {
    _TOPIC: "READ on the topic",
    _GROUP: "DELETE on the group",
}
_RIGHTS: Final[dict[str, _Rights]] = {
    "create_topics()": {_TOPIC: "CREATE on the topic or on the cluster"},
    "delete_topics()": {_TOPIC: "DELETE on the topic"},
    "create_partitions()": {_TOPIC: "ALTER on the topic"},
    "delete_records()": {_TOPIC: "DELETE on the topic"},
    "describe_producers()": {_TOPIC: "READ on the topic"},
    "elect_leaders()": _ALTER,
    "alter_partition_reassignments()": _ALTER,
    "alter_replica_log_dirs()": _ALTER,
    "describe_configs()": _DESCRIBE_CONFIGS,
    "get_configs()": _DESCRIBE_CONFIGS,
    "list_config_resources()": _DESCRIBE_CONFIGS,
    "incremental_alter_configs()": _ALTER_CONFIGS,
    "alter_configs()": _ALTER_CONFIGS,
    "delete_groups()": {_GROUP: "DELETE on the group"},
    "remove_members_from_consumer_group()": _OFFSETS,
    "alter_consumer_group_offsets()": _OFFSETS,
    "delete_consumer_group_offsets()": _OFFSETS_DELETED,
    "alter_share_group_offsets()": _OFFSETS,
    "delete_share_group_offsets()": _OFFSETS_DELETED,
    "fence_producers()": {_TRANSACTION: "WRITE on the transactional id"},
    "abort_transaction()": {_CLUSTER: "CLUSTER_ACTION or ALTER on the cluster"},
    "update_features()": _ALTER,
    "unregister_broker()": _ALTER,
    "unregister_controller()": _ALTER,
    "add_raft_voter()": _ALTER,
    "remove_raft_voter()": _ALTER,
    "create_acls()": _ALTER,
    "delete_acls()": _ALTER,
    "describe_client_quotas()": _DESCRIBE_CONFIGS,
    "alter_client_quotas()": _ALTER_CONFIGS,
    "alter_user_scram_credentials()": _ALTER,
    "create_delegation_token()": {_TOKEN: "CREATE_TOKENS on the user that is to own the token"},
}
"""The rights that a call needs beyond `_DEFAULTS`, by the error of their absence."""


def with_right(what: str, outcome: V) -> V | BrokerResponseError:
    """Return an outcome of the call `what`. An error about a missing right names the right."""
    if not isinstance(outcome, BrokerResponseError) or type(outcome) not in _DEFAULTS:
        return outcome
    kind = type(outcome)
    right = _RIGHTS.get(what, {}).get(kind) or _DEFAULTS[kind]
    told = str(outcome.args[0]) if outcome.args else ""
    told = told.replace(kind.description, "").rstrip(" .:")
    named = kind(f"{told or what}: the user of this client needs {right}; grant it")
    named.__cause__ = outcome.__cause__
    return named


__all__ = ["with_right"]
