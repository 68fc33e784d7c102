"""UpdateFeatures: moves features to other levels, all or none (KIP-584, KIP-778)."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_features import SAFE_DOWNGRADE, UPGRADE

_LAST_WITH_RESULTS = 1
_NO_ERROR = "NONE"
"""Kafka's text of a feature without an error."""
_ALL_FAILED = "The update failed for all features since the following feature had an error: "


def handle(context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    features = context.cluster.features
    response = UpdateFeaturesResponse(error_message=None)
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for()
    except BrokerResponseError as error:
        response.error_code, response.error_message = error.errno, reason_of(error)
        return response
    for update in request.feature_updates:
        try:
            kind = _upgrade_type(context, update)
            controller = context.cluster.controller_id
            features.check(update.feature, update.max_version_level, kind, controller)
        except BrokerResponseError as error:
            response.error_code = error.errno
            response.error_message = _ALL_FAILED + reason_of(error)
            return response
    if not request.validate_only:
        levels = {each.feature: each.max_version_level for each in request.feature_updates}
        context.cluster.note_change(features.update(levels))
    if context.version <= _LAST_WITH_RESULTS:
        response.results = [
            UpdatableFeatureResult(feature=each.feature, error_message=_NO_ERROR)
            for each in request.feature_updates
        ]
    return response


def _upgrade_type(context: RequestContext, update: FeatureUpdateKey) -> int:
    if context.version >= UpdateFeaturesRequest.upgrade_types_since:
        return update.upgrade_type
    return SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE


HANDLER = Handler(UpdateFeaturesRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
