"""`aiokafka-lite cluster`: what a person sees of the cluster, and settings that are altered."""

import json
from typing import Any

from tests.cli.conftest import Invoke


def shown(invoke: Invoke, *arguments: str) -> list[dict[str, Any]]:
    result = invoke("cluster", *arguments, "--output", "json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_brokers_features_and_quorum(invoke: Invoke) -> None:
    (broker,) = shown(invoke, "describe")
    assert (broker["broker"], broker["rack"]) == (1, None)
    assert broker["address"].startswith("127.0.0.1:")
    assert broker["cluster_id"]
    features = {row.pop("feature"): row for row in shown(invoke, "features")}
    assert features["group.version"] == {"level": 1, "lowest": 0, "highest": 1}
    assert features["share.version"] == {"level": 2, "lowest": 0, "highest": 2}
    assert features["transaction.version"] == {"level": 2, "lowest": 0, "highest": 2}
    (leader,) = shown(invoke, "quorum")
    assert (leader["node"], leader["part"], leader["lag"]) == (1, "leader", 0)
    invoke("topics", "create", "orders")
    (later,) = shown(invoke, "quorum")
    assert later["log_end_offset"] > leader["log_end_offset"]


def test_settings_are_altered_and_shown(invoke: Invoke) -> None:
    invoke("topics", "create", "orders")
    change = ("cluster", "configs", "topic", "orders", "--set", "retention.ms=5000")
    assert invoke(*change, "--validate-only").stdout == "checked topic orders\n"
    before = {row["name"] for row in shown(invoke, "configs", "topic", "orders")}
    assert "retention.ms" not in before
    assert invoke(*change).stdout == "altered topic orders\n"
    rows = shown(invoke, "configs", "topic", "orders")
    assert {"name": "retention.ms", "value": "5000", "source": "topic_config"} in rows
    assert len(shown(invoke, "configs", "topic", "orders", "--defaults")) > len(rows)
    invoke("cluster", "configs", "topic", "orders", "--delete", "retention.ms")
    assert {row["name"] for row in shown(invoke, "configs", "topic", "orders")} == before


def test_a_table_for_people(invoke: Invoke) -> None:
    table = invoke("cluster", "configs", "broker", "1").stdout
    assert "node.id" in table
    assert "static_broker_config" in table


def test_wrong_usage_and_errors_are_told(invoke: Invoke) -> None:
    assert invoke("cluster", "configs", "planet", "x").exit_code == 2
    missing = invoke("cluster", "configs", "topic", "nothing")
    assert (missing.exit_code, "'nothing'" in missing.stderr) == (1, True)
    invoke("topics", "create", "orders")
    refused = invoke("cluster", "configs", "topic", "orders", "--set", "retention.ms=soon")
    assert refused.exit_code == 1
    assert "Not a number of type LONG" in refused.stderr
