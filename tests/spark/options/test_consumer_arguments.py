"""What a consumer of Spark's processes is told."""

from aiokafka_lite.spark.options.consumer_arguments import consumer_arguments
from tests.spark.support.topics import source_options


def test_a_consumer_does_only_what_it_is_told() -> None:
    options = source_options("h:1", maxBatchBytes="1000")
    arguments = consumer_arguments(options)
    assert arguments["auto_offset_reset"] == "none"
    assert arguments["allow_auto_create_topics"] is False
    assert arguments["max_partition_fetch_bytes"] == 1000
    theirs = source_options("h:1", **{"kafka.max.partition.fetch.bytes": "77"})  # type: ignore[arg-type]
    assert consumer_arguments(theirs)["max_partition_fetch_bytes"] == 77
    assert "group_id" not in arguments
