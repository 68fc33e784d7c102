"""Where the rows of a job go: by the keys, and by Spark's output mode."""

from typing import Any

import pytest

from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.spark.jobs.stream.table_sink import TableStreamConfig, stream_writer

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "topics": ("t",), "checkpoint": "/c"}


class Frame:
    """A frame, or a writer of one, that notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    @property
    def writeStream(self) -> "Frame":
        return self

    @property
    def write(self) -> "Frame":
        return self

    def __getattr__(self, name: str) -> Any:
        def note(*given: Any, **named: Any) -> "Frame":
            self.asked.append((name, named or (given[0] if given else None)))
            return self

        return note


def config(**given: Any) -> TableStreamConfig:
    return TableStreamConfig(**{**GIVEN, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": ""}, "path='' is not a folder"),
        ({"path": "/p", "topic": "u"}, "'/p' is a folder, and topic is for a topic"),
        ({"path": "/p", "delivery": "transactional"}, "and delivery is for a topic"),
        ({"path": "/p", "sink_bootstrap_servers": "h:2"}, "and sink_bootstrap_servers is for a"),
        ({"topic": "t"}, "topic='t' is one of those read.*name another topic"),
        ({"topic": "t", "sink_bootstrap_servers": "h:1"}, "topic='t' is one of those read"),
        ({"topic": "tu", "topics": (), "topic_pattern": "u$"}, "topic='tu' is one of those read"),
        ({"topic": "u", "topics": (), "topic_pattern": "("}, "topic_?[pP]attern|subscribePattern"),
        ({"topic": "u", "sink": {"kafka.acks": "x"}}, "kafka.acks"),
    ],
)
def test_a_target_is_one_and_not_the_source(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        config(**given)


def test_a_topic_of_that_name_on_other_brokers_is_another() -> None:
    assert config(topic="t", sink_bootstrap_servers="h:2").topic == "t"


def test_options_of_the_sink_are_parquets_if_it_is_a_folder() -> None:
    assert config(path="/p").target() == ("parquet", {"compression": "zstd", "path": "/p"})
    kind, options = config(path="/p", sink={"compression": "lz4"}).target()
    assert (kind, options["compression"]) == ("parquet", "lz4")
    kind, options = config(topic="u", sink={"kafka.compression.type": "lz4"}).target()
    assert (kind, options["kafka.compression.type"], options["topic"]) == ("kafka-lite", "lz4", "u")


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_a_stream_goes_to_a_topic_by_the_sink(mode: str) -> None:
    frame, to_topic = Frame(), config(topic="u")
    assert stream_writer(frame, to_topic, mode) is frame
    options = to_topic.sink_options()
    assert frame.asked == [("outputMode", mode), ("format", "kafka-lite"), ("options", options)]


@pytest.mark.parametrize(
    ("given", "mode", "format_", "save_mode"),
    [
        ({"topic": "u"}, "update", "kafka-lite", "append"),
        ({"path": "/p"}, "complete", "parquet", "overwrite"),
    ],
)
def test_what_no_sink_knows_is_written_batch_by_batch(
    given: dict[str, Any], mode: str, format_: str, save_mode: str
) -> None:
    frame, chosen = Frame(), config(**given)
    stream_writer(frame, chosen, mode)
    assert [name for name, _ in frame.asked] == ["outputMode", "foreachBatch"]
    write, batch = frame.asked[-1][1], Frame()
    write(batch, 7)
    assert batch.asked == [
        ("format", format_),
        ("options", chosen.target()[1]),
        ("mode", save_mode),
        ("save", None),
    ]
