"""Each call of the admin client has a test on a real Kafka, in which another tool sees the same.

The tools are Java's command line, confluent-kafka and aiokafka. A new call needs a row here.
"""

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from aiokafka_lite import AIOKafkaAdminClient

ADMIN: Final = Path(__file__).parents[1] / "admin"
LIFE: Final = {"start", "close", "client_instance_id"}
"""Calls about the client itself."""
REAL: Final = {"any_kafka", "cluster", "kafka", "real_secured_cluster", "running_kafka"}
"""Fixtures of a real Kafka, and of several brokers of which one is real."""

TOPICS: Final = "topics/test_topic_calls"
CONFIGS: Final = "configs/test_config_calls"
GROUPS: Final = "groups/test_group_calls"
OFFSETS: Final = "groups/test_group_offset_calls"
TRANSACTIONS: Final = "transactions/test_admin_transaction_calls"
PRODUCERS: Final = "transactions/test_producer_calls"
REASSIGNMENTS: Final = "partitions/test_reassignment_calls"
TOKENS: Final = "security/test_delegation_token_calls"

FEATURES_ROW: Final = (
    "cluster/test_cluster_calls", "test_a_level_goes_down_and_up_on_real_kafka", "run_tool",
)  # fmt: skip
ACL_ROW: Final = (
    "security/test_acl_calls", "test_rules_are_created_described_and_deleted", "seen_by_confluent",
)  # fmt: skip
HANGING_ROW: Final = (
    TRANSACTIONS, "test_a_hanging_transaction_is_found_and_aborted", "kafka.transactions",
)  # fmt: skip
TRANSACTION_ROW: Final = (
    TRANSACTIONS, "test_a_transaction_is_listed_and_described_as_java_does", "kafka.transactions",
)  # fmt: skip
MOVED_ROW: Final = (
    REASSIGNMENTS, "test_a_real_cluster_moves_replicas_and_others_see_it", "shown_by_java",
)  # fmt: skip
LOG_DIR_ROW: Final = (
    "partitions/test_log_dir_calls", "test_a_replica_moves_on_a_real_broker_and_java_sees_it",
    "run_tool",
)  # fmt: skip
SEEN_TOPIC_ROW: Final = (TOPICS, "test_another_client_sees_what_was_created", "witness.list_topics")
GROUP_OFFSETS_ROW: Final = (
    OFFSETS, "test_offsets_are_altered_listed_and_deleted", "seen_offsets",
)  # fmt: skip
RESET_ROW: Final = (
    "groups/test_group_progress_calls", "test_a_reset_is_planned_and_carried_out", "seen_offsets",
)  # fmt: skip
LISTED_ROW: Final = (GROUPS, "test_groups_are_listed", "seen_groups")
CLASSIC_ROW: Final = (GROUPS, "test_a_classic_group_is_described", "seen_group")
REMOVED_ROW: Final = (GROUPS, "test_members_are_removed", "seen_group")
RAW_ROW: Final = (GROUPS, "test_aiokafkas_raw_answers", "seen_group")
DELETED_ROW: Final = (GROUPS, "test_groups_are_deleted", "seen_groups")
SHARE_ROW: Final = ("test_java_witnesses", "test_offsets_of_a_share_group", "shown")
SCRAM_ROW: Final = (
    "security/test_scram_calls", "test_a_user_of_confluents_is_described_and_ours_by_confluent",
    "theirs.describe_user_scram_credentials",
)  # fmt: skip
TOKEN_ROW: Final = (TOKENS, "test_javas_tool_sees_tokens", "run_tool")
QUOTA_ROW: Final = ("security/test_quota_calls", "test_javas_tool_sees_a_quota", "run_tool")
VOTERS_ROW: Final = ("cluster/test_quorum_calls", "test_javas_tool_sees_voters", "run_tool")
METRICS_ROW: Final = ("test_java_witnesses", "test_subscriptions_of_client_metrics", "shown")

WITNESSES: Final[dict[str, tuple[str, str, str]]] = {
    "abort_transaction": HANGING_ROW,
    "add_raft_voter": VOTERS_ROW,
    "alter_client_quotas": QUOTA_ROW,
    "alter_configs": (CONFIGS, "test_alter_configs_replaces_all", "seen_by_confluent"),
    "alter_consumer_group_offsets": GROUP_OFFSETS_ROW,
    "alter_partition_reassignments": MOVED_ROW,
    "alter_replica_log_dirs": LOG_DIR_ROW,
    "alter_share_group_offsets": SHARE_ROW,
    "alter_user_scram_credentials": SCRAM_ROW,
    "create_acls": ACL_ROW,
    "create_delegation_token": TOKEN_ROW,
    "create_partitions": (
        "topics/test_create_partitions_calls",
        "test_another_client_sees_the_new_partitions",
        "witness.list_topics",
    ),
    "create_topics": SEEN_TOPIC_ROW,
    "delete_acls": ACL_ROW,
    "delete_consumer_group_offsets": GROUP_OFFSETS_ROW,
    "delete_groups": DELETED_ROW,
    "delete_records": (
        "topics/test_delete_records_calls",
        "test_another_client_sees_the_new_beginning",
        "witness.get_watermark_offsets",
    ),
    "delete_share_group_offsets": SHARE_ROW,
    "delete_topics": SEEN_TOPIC_ROW,
    "describe_acls": ACL_ROW,
    "describe_client_quotas": QUOTA_ROW,
    "describe_cluster": (
        "cluster/test_describe_cluster_calls",
        "test_the_dict_is_that_of_aiokafka",
        "theirs_admin.describe_cluster",
    ),
    "describe_configs": (
        CONFIGS,
        "test_describe_configs_has_aiokafkas_rows",
        "seen_by_confluent",
    ),
    "describe_consumer_groups": RAW_ROW,
    "describe_delegation_tokens": TOKEN_ROW,
    "describe_features": FEATURES_ROW,
    "describe_groups": CLASSIC_ROW,
    "describe_log_dirs": ("test_java_witnesses", "test_log_directories", "shown"),
    "describe_metadata_quorum": ("test_java_witnesses", "test_the_quorum", "shown"),
    "describe_producers": TRANSACTION_ROW,
    "describe_replica_log_dirs": LOG_DIR_ROW,
    "describe_share_groups": (
        "groups/test_share_offset_calls",
        "test_a_share_group_with_a_member",
        "confluent_sharer",
    ),
    "describe_streams_groups": ("test_java_witnesses", "test_a_streams_group", "shown"),
    "describe_topic_partitions": (
        "topics/test_describe_topic_calls",
        "test_pages_say_what_another_client_says",
        "witness.describe_topics",
    ),
    "describe_topics": (
        "topics/test_describe_topic_calls",
        "test_dicts_are_those_of_aiokafka_and_more",
        "theirs_admin.describe_topics",
    ),
    "describe_transactions": TRANSACTION_ROW,
    "describe_user_scram_credentials": SCRAM_ROW,
    "elect_leaders": (
        "partitions/test_election_calls",
        "test_another_client_is_told_the_same",
        "witness.elect_leaders",
    ),
    "expire_delegation_token": TOKEN_ROW,
    "fence_producers": (
        PRODUCERS,
        "test_another_clients_producer_is_fenced",
        "witness.commit_transaction",
    ),
    "find_coordinator": CLASSIC_ROW,
    "force_terminate_transaction": (
        PRODUCERS,
        "test_another_clients_producer_is_fenced",
        "witness.commit_transaction",
    ),
    "find_hanging_transactions": HANGING_ROW,
    "get_configs": (
        CONFIGS,
        "test_settings_have_names_types_and_sources",
        "seen_by_confluent",
    ),
    "group_lag": ("test_java_witnesses", "test_the_lag_of_a_group", "shown"),
    "incremental_alter_configs": (CONFIGS, "test_single_settings_are_changed", "seen_by_confluent"),
    "list_config_resources": METRICS_ROW,
    "list_consumer_group_offsets": GROUP_OFFSETS_ROW,
    "list_consumer_groups": LISTED_ROW,
    "list_group_offsets": (
        OFFSETS,
        "test_several_groups_are_asked_for_in_one_request",
        "seen_offsets",
    ),
    "list_groups": LISTED_ROW,
    "list_offsets": (
        "partitions/test_list_offsets_calls",
        "test_another_client_sees_the_same",
        "witness.list_offsets",
    ),
    "list_partition_reassignments": MOVED_ROW,
    "list_share_group_offsets": SHARE_ROW,
    "list_topics": SEEN_TOPIC_ROW,
    "list_transactions": TRANSACTION_ROW,
    "plan_offset_reset": RESET_ROW,
    "remove_members_from_consumer_group": REMOVED_ROW,
    "remove_raft_voter": VOTERS_ROW,
    "renew_delegation_token": TOKEN_ROW,
    "reset_offsets": RESET_ROW,
    "unregister_broker": MOVED_ROW,
    "unregister_controller": VOTERS_ROW,
    "update_features": FEATURES_ROW,
    "watch_partition_reassignments": MOVED_ROW,
}
"""Call -> the file below tests/admin, the test in it, and what asks the other tool."""


def public_calls() -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(AIOKafkaAdminClient)
        if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)
        if not name.startswith("_")
    } - LIFE


@cache
def functions(path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a file, by name."""
    tree = ast.parse((ADMIN / f"{path}.py").read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def used_by(path: str, name: str) -> set[str]:
    """The dotted names that a test uses, and the functions of its file that it calls."""
    known, found = functions(path), set[str]()
    waiting = [name]
    while waiting:
        for node in ast.walk(known[waiting.pop()]):
            if isinstance(node, ast.Attribute | ast.Name):
                dotted = ast.unparse(node)
                if dotted in known and dotted not in found:
                    waiting.append(dotted)
                found.add(dotted)
    return found


def test_each_call_has_a_witness() -> None:
    assert set(WITNESSES) == public_calls()


@pytest.mark.parametrize("call", sorted(WITNESSES))
def test_the_witness_is_asked_about_the_call_on_a_real_kafka(call: str) -> None:
    path, name, tool = WITNESSES[call]
    used = used_by(path, name)
    assert {f"admin.{call}", f"bob.{call}"} & used, f"{name} does not make the call"
    assert any(each == tool or each.endswith(f".{tool}") for each in used), f"no {tool} in {name}"
    arguments = {each.arg for each in functions(path)[name].args.args}
    assert REAL & arguments or "ApacheKafka" in used, f"{name} has no real Kafka"
