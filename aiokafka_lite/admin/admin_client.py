"""The public face of the admin client: its life. The calls stand in the families, one file each.

Names and signatures are aiokafka's where aiokafka has a call.
"""

import asyncio
import random
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self
from uuid import UUID

from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.calls.admin_requests import AdminRequests
from aiokafka_lite.admin.cluster.cluster_calls import ClusterCalls
from aiokafka_lite.admin.cluster.describe_cluster_calls import DescribeClusterCalls
from aiokafka_lite.admin.cluster.quorum_calls import QuorumCalls
from aiokafka_lite.admin.configs.config_calls import ConfigCalls
from aiokafka_lite.admin.groups.group_progress_calls import GroupProgressCalls
from aiokafka_lite.admin.partitions.election_calls import ElectionCalls
from aiokafka_lite.admin.partitions.log_dir_calls import LogDirCalls
from aiokafka_lite.admin.partitions.reassignment_calls import ReassignmentCalls
from aiokafka_lite.admin.security.acl_calls import AclCalls
from aiokafka_lite.admin.security.delegation_token_calls import DelegationTokenCalls
from aiokafka_lite.admin.security.quota_calls import QuotaCalls
from aiokafka_lite.admin.security.scram_calls import ScramCalls
from aiokafka_lite.admin.topics.create_partitions_calls import CreatePartitionsCalls
from aiokafka_lite.admin.topics.delete_records_calls import DeleteRecordsCalls
from aiokafka_lite.admin.topics.describe_topic_calls import DescribeTopicCalls
from aiokafka_lite.admin.topics.topic_calls import TopicCalls
from aiokafka_lite.admin.transactions.admin_transaction_calls import TransactionCalls
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.kafka_client import ClientState, KafkaClient
from aiokafka_lite.cluster.shared_options import SharedClient, host_and_options
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.client_loop import refuse_pickling
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.private_reads import with_private_reads

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.admin.admin_options import AdminOptions

_TO_CLOSE = "await its close(), or use it as `async with admin:`"


@with_private_reads(
    "admin",
    "_client _closed _started _request_timeout_ms _send_request _get_cluster_metadata"
    " _send_to_controller",
)
class AIOKafkaAdminClient(
    TopicCalls,
    DescribeTopicCalls,
    CreatePartitionsCalls,
    DeleteRecordsCalls,
    ElectionCalls,
    ReassignmentCalls,
    LogDirCalls,
    ConfigCalls,
    DescribeClusterCalls,
    GroupProgressCalls,
    ClusterCalls,
    QuorumCalls,
    AclCalls,
    QuotaCalls,
    ScramCalls,
    DelegationTokenCalls,
    TransactionCalls,
):
    """Describes and changes a Kafka cluster.

        async with AIOKafkaAdminClient(bootstrap_servers="...") as admin:
            await admin.create_topics([NewTopic("orders", 3, 1)])

    The options are those that producer and consumer have in common. The constructor does no I/O;
    everything else belongs to the loop of `start()`. Each call is bounded by `timeout_ms`, or by
    the option `request_timeout_ms`. `client` is an AIOKafkaClient whose connections it shares; its
    options are those of the connections. `loop` and `api_version` have no effect; `clock` and `rng`
    are for tests. docs/options.md describes the other options.

    A call about several things asks for them together, and splits them where it must. Things that
    fail keep no others from succeeding: the answer has an error in the place of each that failed.
    A call about one thing raises its error.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once.
    Warns: DeprecationWarning for options without effect.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        api_version: str | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: SharedClient | None = None,
        **options: "Unpack[AdminOptions]",
    ) -> None:
        for name, value in (("loop", loop), ("api_version", api_version)):
            if value is not None:
                text = f"{name} has no effect any more; leave it out"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
        check_names(self, AIOKafkaAdminClient.__init__, AdminConfig, options)
        host, given = host_and_options(self, client, options)
        self._config = AdminConfig(**given)
        self._counters = Counters()
        self._kafka = KafkaClient(
            self._config,
            clock=clock if clock is not None else SYSTEM_CLOCK,
            rng=rng,
            name=type(self).__name__,
            allow_auto_topic_creation=False,
            observer=self._counters,
            host=host,
        )
        self._requests = AdminRequests(self._kafka)

    def __repr__(self) -> str:
        client = getattr(self, "_kafka", None)  # absent when the constructor raised
        state = "not made" if client is None else client.state.value
        config = getattr(self, "_config", None)
        name = "" if config is None else f" client_id={quoted(config.client_id)}"
        return f"<{type(self).__name__}{name} {state}>"

    @property
    def client(self) -> KafkaClient:
        """The cluster as this client sees it."""
        return self._kafka

    # Life…

    async def start(self) -> None:
        """Connect to the cluster. Does nothing if the client runs already.

        Raises: KafkaConnectionError naming each bootstrap address and what happened there;
        AuthenticationFailedError; IllegalStateError after close().
        Cancelled: as if it had failed, nothing stays behind.
        """
        if self._kafka.state is not ClientState.RUNNING:
            if not self._counters.is_heard:
                self._counters.observe(self._config.observer, "admin", self._config.client_id)
            await self._kafka.start()

    async def close(self) -> None:
        """Close all connections. May be repeated. Calls that wait fail with KafkaConnectionError.

        Takes at most some seconds. Cancelled: closing goes on.
        """
        await self._kafka.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Shielded: a cancelled anyio scope around the block would cancel every await of close().
        with anyio_shield():
            await self.close()

    def is_healthy(self) -> bool:
        """Say whether the client runs and can reach a broker, for a readiness probe.

        A client that has no open connection looks for a broker in the background, and the next
        call tells. Does not wait. Raises: IllegalStateError in another event loop or thread.
        """
        return self._kafka.is_healthy()

    async def client_instance_id(self, timeout_ms: int | None = None) -> UUID:
        """Return the id under which the brokers' metrics know this client (KIP-714). Not in
        aiokafka.

        It waits for the id at most `timeout_ms`; None: default_api_timeout_ms. Raises:
        UnsupportedVersionError if no connected broker takes metrics; KafkaTimeoutError;
        IllegalStateError with enable_metrics_push=False, and unless the client runs;
        ValueError for a negative timeout. Cancelled: nothing stays behind.
        """
        self._running()
        return await self._kafka.metrics_push.instance_id(timeout_ms)

    def __del__(self) -> None:
        client: KafkaClient | None = getattr(self, "_kafka", None)
        if client is None or client.state is not ClientState.RUNNING or client.loop.is_of_parent:
            return
        message = f"Unclosed AIOKafkaAdminClient {self!r}: {_TO_CLOSE}"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)
        client.owner.close_soon()

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self)

    def _running(self) -> AdminRequests:
        state = self._kafka.state
        if state is not ClientState.RUNNING:
            remedy = "create another one" if state is ClientState.CLOSED else "await start() first"
            raise IllegalStateError(f"{self!r} takes no calls now; {remedy}")
        self._kafka.loop.check()
        self._kafka.check()
        return self._requests


declare_options(AIOKafkaAdminClient, AdminConfig)

__all__ = ["AIOKafkaAdminClient"]
