"""What a mirror writes, and that it does not read what it writes."""

from typing import Any

import pytest

from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.spark.jobs.mirror import MirrorConfig, columns, copied_columns, copies_ranges

GIVEN: dict[str, Any] = {
    "bootstrap_servers": "h:1",
    "topics": ("a",),
    "topic": "b",
    "checkpoint": "/c",
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topic": "a"}, "topic='a' is one of those read, .* at once, for ever"),
        ({"topic": None}, "each topic would be read and written at once"),
        ({"topic": None, "sink_bootstrap_servers": "h:1"}, "read and written at once"),
    ],
)
def test_a_topic_is_not_copied_into_itself(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        MirrorConfig(**{**GIVEN, **given})
    MirrorConfig(**{**GIVEN, **given, "sink_bootstrap_servers": "other:1"})


def test_records_are_written_as_they_were_read_unless_a_projection_says_otherwise() -> None:
    assert columns(MirrorConfig(**GIVEN)) == "key, value, headers, timestamp"
    other = {**GIVEN, "topic": None, "sink_bootstrap_servers": "other:1"}
    assert columns(MirrorConfig(**other, keep_partition=True)) == (
        "key, value, headers, timestamp, partition, topic"
    )
    assert columns(MirrorConfig(**GIVEN, keep_timestamp=False)) == "key, value, headers"
    assert columns(MirrorConfig(**GIVEN, select="value")) == "value"


def test_unchanged_records_need_no_rows_of_spark_unless_a_driver_has_to_end_what_is_written() -> (
    None
):
    assert copies_ranges(MirrorConfig(**GIVEN))
    changed: list[dict[str, Any]] = [
        {"select": "value"},
        {"where": "partition = 0"},
        {"delivery": "transactional"},
    ]
    for given in changed:
        assert not copies_ranges(MirrorConfig(**GIVEN, **given))
    secured = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required"
        ' username="u" password="p";',
    }
    assert copies_ranges(MirrorConfig(**GIVEN, kafka=secured))
    for side in ("source", "sink"):
        by_token: dict[str, Any] = {side: {"delegationToken": "true"}}
        assert not copies_ranges(MirrorConfig(**GIVEN, kafka=secured, **by_token))


def test_a_copy_keeps_what_the_keys_say() -> None:
    assert copied_columns(MirrorConfig(**GIVEN)) == ("key", "value", "headers", "timestamp")
    other = {**GIVEN, "topic": None, "sink_bootstrap_servers": "other:1"}
    assert copied_columns(MirrorConfig(**other, keep_partition=True, keep_timestamp=False)) == (
        *("key", "value", "headers", "partition", "topic"),
    )
