"""Refuses a job whose two sides turn out to be one cluster, with a topic that both name.

The config compares addresses. A cluster may have several, so the brokers are asked for its id.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.stream.topic_config import TopicsConfig, TopicSinkConfig
from aiokafka_lite.spark.options.admin_arguments import admin_arguments
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.spark.process.worker import Worker, worker


def refuse_own_output(config: JobConfig, here: Worker | None = None) -> None:
    """Return if the job does not read what it writes. Brokers are asked only if they could be one.

    Raises: KafkaConfigurationError naming the topic; KafkaError without an answer.
    """
    if not isinstance(config, TopicSinkConfig) or not isinstance(config, TopicsConfig):
        return
    faults = [] if config.shares_brokers() else list(config.loops())
    if not faults:
        return
    read = SourceOptions.parse(config.source_options(), streaming=False).client
    written = SinkOptions.parse(config.sink_options()).client
    here = worker() if here is None else here
    found = {here.run(partial(_cluster_id, each)) for each in (read, written)}
    if len(found) == 1 and None not in found:
        raise KafkaConfigurationError(
            f"{config.sink_bootstrap_servers} is the cluster that is read: {'; '.join(faults)}"
        )


async def _cluster_id(client: Mapping[str, object]) -> Any:
    from aiokafka_lite.admin import AIOKafkaAdminClient  # noqa: PLC0415 - only where it is used

    async with AIOKafkaAdminClient(**admin_arguments(client)) as admin:
        return (await admin.describe_cluster())["cluster_id"]


__all__ = ["refuse_own_output"]
