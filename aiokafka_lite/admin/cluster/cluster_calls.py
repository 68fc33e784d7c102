"""Calls about the cluster as a whole: its features, its quorum, and brokers that are gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.cluster.cluster_values import (
    FeatureLevels,
    FeatureMetadata,
    FeatureUpdate,
    QuorumEndpoint,
    QuorumInfo,
    QuorumReplica,
    UpgradeType,
)
from aiokafka_lite.checks.item_lists import dict_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaError,
    UnsupportedVersionError,
)
from aiokafka_lite.net.handshake import CLIENT_SOFTWARE_NAME, software_version
from aiokafka_lite.protocol.messages import _quorum as quorum
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from aiokafka_lite.protocol.messages.unregister_broker import UnregisterBrokerRequest
from aiokafka_lite.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from aiokafka_lite.admin.calls.admin_requests import AskedNode

_METADATA_TOPIC = "__cluster_metadata"
_MOST_LEVEL = 2**15 - 1


class ClusterCalls(AdminFamily):
    """The cluster: features, quorum, brokers that are gone."""

    async def describe_features(
        self, timeout_ms: int | None = None, *, node_id: int | None = None
    ) -> FeatureMetadata:
        """Return the features that are in force in the cluster, and those that one broker could
        run: the one with `node_id`, or any.

        Raises: BrokerNotAvailableError for a `node_id` that is not in the cluster;
        IllegalArgumentError for one that is no int; KafkaConnectionError, KafkaTimeoutError or
        another error if no node answered within `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind. Source: KIP-584, KIP-1022.
        """
        asked = None if node_id is None else _checked_broker("node_id", node_id)

        async def ask(node: AskedNode) -> FeatureMetadata:
            request = ApiVersionsRequest(
                client_software_name=CLIENT_SOFTWARE_NAME,
                client_software_version=software_version(),
            )
            answer = await node.request(request)
            raise_broker_error(answer.error_code, None, "describe_features()")
            return _features(answer)

        requests = self._running()
        routes = requests.routes
        return await requests.one(
            "describe_features()",
            asked,
            routes.any_node if asked is None else routes.node(lambda _: asked),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def update_features(
        self,
        feature_updates: Mapping[str, FeatureUpdate],
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> Outcomes[str, None]:
        """Move features of the cluster to other levels; with `validate_only` only check.

        Kafka from 4.0 on changes all or none: each feature then has the error of the first that
        failed.

        Raises: IllegalArgumentError for anything but a dict of FeatureUpdate, and for a level that
        is no int from 0 to 32767;
        UnsupportedVersionError if the brokers are older than 3.3 and `validate_only` or an
        UNSAFE_DOWNGRADE is asked for; otherwise as `describe_features`.
        Cancelled: the controller may change the levels nevertheless. Source: KIP-584, KIP-778.
        """
        given = dict_of("feature_updates", feature_updates, "{name: FeatureUpdate}", FeatureUpdate)
        updates = {name: _checked(name, update) for name, update in given.items()}
        requests = self._running()

        async def ask(node: AskedNode, names: list[str]) -> Mapping[str, KafkaError | None]:
            request = UpdateFeaturesRequest(
                timeout_ms=node.left_ms,
                feature_updates=[
                    FeatureUpdateKey(
                        feature=name,
                        max_version_level=updates[name].max_version_level,
                        upgrade_type=updates[name].upgrade_type,
                    )
                    for name in names
                ],
                validate_only=validate_only,
            )
            try:
                answer = await node.request(request)
            except UnsupportedVersionError:
                answer = await node.request(_for_brokers_before_3_3(request))
            return _update_results(answer, names)

        return await requests.for_each(
            "update_features()",
            updates,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def describe_metadata_quorum(self, timeout_ms: int | None = None) -> QuorumInfo:
        """Return the nodes that agree on the metadata of the cluster, and how far each one is.

        Raises: as `describe_features`. Cancelled: nothing is left behind.
        Source: KIP-595, KIP-836, KIP-853.
        """
        request = DescribeQuorumRequest(
            topics=[
                TopicData(topic_name=_METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])
            ]
        )

        async def ask(node: AskedNode, _: list[str]) -> Mapping[str, QuorumInfo | KafkaError]:
            answer = await node.request(request)
            raise_broker_error(
                answer.error_code, answer.error_message, "describe_metadata_quorum()"
            )
            return _quorum_infos(answer)

        requests = self._running()
        found = await requests.for_each(
            "describe_metadata_quorum()",
            [_METADATA_TOPIC],
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )
        found.raise_first()
        return found.succeeded[_METADATA_TOPIC]

    async def unregister_broker(self, broker_id: int, timeout_ms: int | None = None) -> None:
        """Make the cluster forget a broker that is gone for good.

        A broker that still runs stays out of the cluster until it is started again.

        Raises: BrokerIdNotRegisteredError for an id that the cluster does not know;
        IllegalArgumentError for an id that is no int; otherwise as `describe_features`.
        Cancelled: the controller may forget the broker nevertheless. Source: KIP-631.
        """
        broker_id = _checked_broker("broker_id", broker_id)

        await self._running().change(
            "unregister_broker()",
            "broker",
            broker_id,
            lambda _: UnregisterBrokerRequest(broker_id=broker_id),
            timeout_s=self._timeout_s(timeout_ms),
        )


def _checked_broker(name: str, value: object) -> int:
    broker_id = whole(value)
    if not is_int(broker_id) or broker_id < 0:
        raise IllegalArgumentError(
            f"{name}={quoted(broker_id)} is no int of 0 or more; name the id of a broker"
        )
    return broker_id


def _features(answer: ApiVersionsResponse) -> FeatureMetadata:
    epoch = answer.finalized_features_epoch
    return FeatureMetadata(
        finalized={
            each.name: FeatureLevels(each.min_version_level, each.max_version_level)
            for each in (answer.finalized_features if epoch >= 0 else [])
        },
        supported={
            each.name: FeatureLevels(each.min_version, each.max_version)
            for each in answer.supported_features
        },
        epoch=epoch if epoch >= 0 else None,
    )


def _checked(name: str, update: FeatureUpdate) -> FeatureUpdate:
    level, upgrade_type = whole(update[0]), update[1]
    if not is_int(level) or not 0 <= level <= _MOST_LEVEL:
        raise IllegalArgumentError(
            f"max_version_level={quoted(level)} of feature {quoted(name)} is no int from 0 to "
            f"{_MOST_LEVEL}; name a level of describe_features(), or 0 to switch the feature off"
        )
    return FeatureUpdate(level, UpgradeType(upgrade_type))


def _for_brokers_before_3_3(request: UpdateFeaturesRequest) -> UpdateFeaturesRequest:
    """Return the request in version 0. Raises: UnsupportedVersionError if it asks for more."""
    kinds = {each.upgrade_type for each in request.feature_updates}
    if request.validate_only or UpgradeType.UNSAFE_DOWNGRADE in kinds:
        raise UnsupportedVersionError(
            "validate_only or an UNSAFE_DOWNGRADE of a feature needs Kafka 3.3 (KIP-778); ask for a"
            " SAFE_DOWNGRADE without validate_only"
        )
    return UpdateFeaturesRequest(
        timeout_ms=request.timeout_ms,
        feature_updates=[
            FeatureUpdateKey(
                feature=each.feature,
                max_version_level=each.max_version_level,
                allow_downgrade=each.upgrade_type == UpgradeType.SAFE_DOWNGRADE,
            )
            for each in request.feature_updates
        ],
    )


def _update_results(
    answer: UpdateFeaturesResponse, names: list[str]
) -> dict[str, KafkaError | None]:
    if answer.error_code or not answer.results:  # all or none; from version 2 on without rows
        return {
            name: broker_error(answer.error_code, answer.error_message, f"feature {quoted(name)}")
            for name in names
        }
    return {
        each.feature: broker_error(
            each.error_code, each.error_message, f"feature {quoted(each.feature)}"
        )
        for each in answer.results
    }


def _quorum_infos(answer: DescribeQuorumResponse) -> dict[str, QuorumInfo | KafkaError]:
    return {
        topic.topic_name: broker_error(
            partition.error_code, partition.error_message, f"topic {quoted(topic.topic_name)}"
        )
        or QuorumInfo(
            partition.leader_id,
            partition.leader_epoch,
            partition.high_watermark,
            [_replica(each) for each in partition.current_voters],
            [_replica(each) for each in partition.observers],
            {node.node_id: _endpoints(node) for node in answer.nodes},
        )
        for topic in answer.topics
        for partition in topic.partitions
    }


def _endpoints(node: quorum.Node) -> list[QuorumEndpoint]:
    return [QuorumEndpoint(each.name, each.host, each.port) for each in node.listeners]


def _replica(told: quorum.ReplicaState) -> QuorumReplica:
    fetched, caught_up = told.last_fetch_timestamp, told.last_caught_up_timestamp
    return QuorumReplica(
        told.replica_id,
        told.log_end_offset,
        told.replica_directory_id,
        fetched if fetched >= 0 else None,
        caught_up if caught_up >= 0 else None,
    )


__all__ = ["ClusterCalls"]
