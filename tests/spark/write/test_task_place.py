"""Which query and batch a task belongs to, and that nobody guesses."""

import pytest

from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.write.task_place import place_of
from aiokafka_lite.spark.write.transactional_marker import TaskPlace

STREAM = {"sql.streaming.queryId": "q", "streaming.sql.batchId": "12"}
THREAD = {
    "spark.sql.requireAllClusterKeysForDistribution": "false",
    "spark.sql.cbo.enabled": "false",
}
CONNECT = {
    "spark.job.tags": "SparkConnect_OperationTag_User__Session_s_Operation_o,spark-session-x"
}
NAMED = {"txnAppId": "app", "txnVersion": "7"}


def place(told: dict[str, str], write_id: str | None = "uuid", **options: str) -> TaskPlace:
    given = {
        "kafka.bootstrap.servers": "h:1",
        "delivery": "transactional",
        "transactionalIdPrefix": "p",
        **options,
    }
    return place_of(SinkOptions.parse(given), write_id, 4, told.get)


def test_a_query_and_a_batch_are_what_spark_says() -> None:
    assert place(STREAM) == place({**STREAM, **CONNECT}, None) == TaskPlace("p-q", 4, 12)
    assert place({}) == TaskPlace("p-uuid", 4, None)
    with pytest.raises(IllegalStateError, match="leave out delivery=transactional"):
        place({}, None)


@pytest.mark.parametrize("told", [{}, STREAM, THREAD, CONNECT])
def test_options_that_name_them_hold_everywhere(told: dict[str, str]) -> None:
    assert place(told, **NAMED) == TaskPlace("p-app", 4, 7)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (CONNECT, "Over Spark Connect, Spark"),
        (THREAD, "In another thread than that of foreachBatch"),
    ],
)
def test_a_write_that_may_be_part_of_a_stream_is_refused(told: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=rf"{said}.*txnAppId.*txnVersion"):
        place(told)


def test_one_setting_alone_says_nothing_of_a_stream() -> None:
    assert place({"spark.sql.cbo.enabled": "false"}).batch_id is None
