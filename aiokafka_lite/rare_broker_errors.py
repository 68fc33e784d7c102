"""The classes of error codes that no part of a client names before it meets them.

`broker_errors` imports this file when one of its names or codes is asked for. To make a hundred
classes takes a twelfth of the instructions that the import of both clients takes. Most programs
never need them. Does not wait.
"""

from aiokafka_lite.broker_response_error import BrokerResponseError
from aiokafka_lite.kafka_error import Fault


class InvalidFetchRequestError(
    BrokerResponseError, code=4, name="INVALID_FETCH_SIZE", fault=Fault.LIBRARY
):
    """The size given in a fetch request is impossible."""


class BrokerNotAvailableError(BrokerResponseError, code=8, name="BROKER_NOT_AVAILABLE"):
    """The broker that the request needs is not alive."""


class StaleControllerEpochError(BrokerResponseError, code=11, name="STALE_CONTROLLER_EPOCH"):
    """The request carries the epoch of a controller that has been replaced."""


class OffsetMetadataTooLargeError(
    BrokerResponseError, code=12, name="OFFSET_METADATA_TOO_LARGE", fault=Fault.USER
):
    """The metadata string of a committed offset is longer than the broker accepts."""


class StaleLeaderEpochCodeError(
    BrokerResponseError,
    code=13,
    name="NETWORK_EXCEPTION",
    fault=Fault.NETWORK,
    retriable=True,
    invalid_metadata=True,
):
    """The connection between two brokers broke before a response came."""


class RecordListTooLargeError(
    BrokerResponseError, code=18, name="RECORD_LIST_TOO_LARGE", fault=Fault.USER
):
    """The batch is larger than a log segment of the broker."""


class NotEnoughReplicasError(
    BrokerResponseError, code=19, name="NOT_ENOUGH_REPLICAS", retriable=True
):
    """The partition has fewer in-sync replicas than min.insync.replicas; nothing was written."""


class NotEnoughReplicasAfterAppendError(
    BrokerResponseError, code=20, name="NOT_ENOUGH_REPLICAS_AFTER_APPEND", retriable=True
):
    """The batch was written, yet to fewer replicas than min.insync.replicas."""


class InvalidRequiredAcksError(
    BrokerResponseError, code=21, name="INVALID_REQUIRED_ACKS", fault=Fault.USER
):
    """The value of acks is none of 0, 1 and -1."""


class InvalidGroupIdError(
    BrokerResponseError, code=24, name="INVALID_GROUP_ID", fault=Fault.USER, fatal=True
):
    """The group id is empty or illegal."""


class InvalidSessionTimeoutError(
    BrokerResponseError, code=26, name="INVALID_SESSION_TIMEOUT", fault=Fault.USER, fatal=True
):
    """session_timeout_ms lies outside the range the broker allows."""


class InvalidCommitOffsetSizeError(
    BrokerResponseError, code=28, name="INVALID_COMMIT_OFFSET_SIZE", fault=Fault.USER
):
    """The offsets committed at once are larger than the broker accepts."""


class GroupAuthorizationFailedError(
    BrokerResponseError, code=30, name="GROUP_AUTHORIZATION_FAILED", fault=Fault.USER, fatal=True
):
    """The user of this client may not do this with the group: grant READ on it, which includes
    DESCRIBE."""


class ClusterAuthorizationFailedError(
    BrokerResponseError, code=31, name="CLUSTER_AUTHORIZATION_FAILED", fault=Fault.USER, fatal=True
):
    """The user of this client may not do this on the cluster. An idempotent producer needs WRITE on
    a topic or IDEMPOTENT_WRITE on the cluster; other requests need the right of their name."""


class InvalidTimestampError(
    BrokerResponseError, code=32, name="INVALID_TIMESTAMP", fault=Fault.USER
):
    """The record's timestamp is further from the broker's clock than the topic allows."""


class UnsupportedSaslMechanismError(
    BrokerResponseError, code=33, name="UNSUPPORTED_SASL_MECHANISM", fault=Fault.USER, fatal=True
):
    """The broker does not offer this SASL mechanism."""


class IllegalSaslStateError(
    BrokerResponseError, code=34, name="ILLEGAL_SASL_STATE", fault=Fault.LIBRARY, fatal=True
):
    """The authentication does not allow this request at its present step."""


class TopicAlreadyExistsError(
    BrokerResponseError, code=36, name="TOPIC_ALREADY_EXISTS", fault=Fault.USER
):
    """A topic of this name exists already."""


class InvalidPartitionsError(
    BrokerResponseError, code=37, name="INVALID_PARTITIONS", fault=Fault.USER
):
    """The number of partitions is not acceptable."""


class InvalidReplicationFactorError(
    BrokerResponseError, code=38, name="INVALID_REPLICATION_FACTOR", fault=Fault.USER
):
    """The replication factor is below one or above the number of brokers."""


class InvalidReplicationAssignmentError(
    BrokerResponseError, code=39, name="INVALID_REPLICA_ASSIGNMENT", fault=Fault.USER
):
    """The manual replica assignment is not consistent."""


class InvalidConfigurationError(
    BrokerResponseError, code=40, name="INVALID_CONFIG", fault=Fault.USER
):
    """A configuration value is not acceptable."""


class NotControllerError(BrokerResponseError, code=41, name="NOT_CONTROLLER", retriable=True):
    """The broker is not the controller of the cluster."""


class InvalidRequestError(
    BrokerResponseError, code=42, name="INVALID_REQUEST", fault=Fault.LIBRARY
):
    """The broker could not make sense of the request; its log says why."""


class PolicyViolationError(BrokerResponseError, code=44, name="POLICY_VIOLATION", fault=Fault.USER):
    """A policy set up on the broker refuses the request."""


class InvalidTxnState(
    BrokerResponseError, code=48, name="INVALID_TXN_STATE", fault=Fault.LIBRARY, fatal=True
):
    """The operation does not fit the state of the transaction."""


class InvalidTransactionTimeout(
    BrokerResponseError, code=50, name="INVALID_TRANSACTION_TIMEOUT", fault=Fault.USER
):
    """transaction_timeout_ms is larger than the broker's transaction.max.timeout.ms."""


class ConcurrentTransactions(
    BrokerResponseError, code=51, name="CONCURRENT_TRANSACTIONS", retriable=True
):
    """The previous transaction of this transactional id is still being completed."""


class TransactionCoordinatorFenced(
    BrokerResponseError, code=52, name="TRANSACTION_COORDINATOR_FENCED"
):
    """A transaction coordinator that has been replaced tried to write a marker."""


class TransactionalIdAuthorizationFailed(
    BrokerResponseError,
    code=53,
    name="TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    fault=Fault.USER,
    fatal=True,
):
    """The user of this client may not use the transactional id: grant WRITE on it, which includes
    DESCRIBE."""


class SecurityDisabled(BrokerResponseError, code=54, name="SECURITY_DISABLED", fault=Fault.USER):
    """The broker has no security features turned on."""


class OperationNotAttempted(BrokerResponseError, code=55, name="OPERATION_NOT_ATTEMPTED"):
    """The broker gave up before it reached this part of the request."""


class LogDirNotFound(BrokerResponseError, code=57, name="LOG_DIR_NOT_FOUND", fault=Fault.USER):
    """The broker has no log directory of this name."""


class SaslAuthenticationFailed(
    BrokerResponseError, code=58, name="SASL_AUTHENTICATION_FAILED", fault=Fault.USER, fatal=True
):
    """The broker refused the credentials."""


class ReassignmentInProgress(
    BrokerResponseError, code=60, name="REASSIGNMENT_IN_PROGRESS", fault=Fault.USER
):
    """The partition is being moved to other replicas."""


class DelegationTokenAuthDisabled(
    BrokerResponseError, code=61, name="DELEGATION_TOKEN_AUTH_DISABLED", fault=Fault.USER
):
    """The broker has delegation tokens turned off."""


class DelegationTokenNotFound(
    BrokerResponseError, code=62, name="DELEGATION_TOKEN_NOT_FOUND", fault=Fault.USER
):
    """The broker does not know this delegation token."""


class DelegationTokenOwnerMismatch(
    BrokerResponseError, code=63, name="DELEGATION_TOKEN_OWNER_MISMATCH", fault=Fault.USER
):
    """The principal neither owns nor may renew this delegation token."""


class DelegationTokenRequestNotAllowed(
    BrokerResponseError, code=64, name="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", fault=Fault.USER
):
    """Delegation tokens cannot be requested over this kind of connection."""


class DelegationTokenAuthorizationFailed(
    BrokerResponseError, code=65, name="DELEGATION_TOKEN_AUTHORIZATION_FAILED", fault=Fault.USER
):
    """The user of this client may not do this with the delegation token: grant DESCRIBE on it."""


class DelegationTokenExpired(
    BrokerResponseError, code=66, name="DELEGATION_TOKEN_EXPIRED", fault=Fault.USER
):
    """The delegation token has expired."""


class InvalidPrincipalType(
    BrokerResponseError, code=67, name="INVALID_PRINCIPAL_TYPE", fault=Fault.USER
):
    """The type of the principal is not supported."""


class NonEmptyGroup(BrokerResponseError, code=68, name="NON_EMPTY_GROUP", fault=Fault.USER):
    """The group still has members."""


class InvalidFetchSessionEpoch(
    BrokerResponseError, code=71, name="INVALID_FETCH_SESSION_EPOCH", retriable=True
):
    """The epoch of the fetch session is not the one the broker expects."""


class ListenerNotFound(
    BrokerResponseError, code=72, name="LISTENER_NOT_FOUND", retriable=True, invalid_metadata=True
):
    """The leader has no listener with the name of the listener that this client uses."""


class TopicDeletionDisabledError(
    BrokerResponseError, code=73, name="TOPIC_DELETION_DISABLED", fault=Fault.USER
):
    """The broker has the deletion of topics turned off."""


class UnsupportedCompressionTypeError(
    BrokerResponseError, code=76, name="UNSUPPORTED_COMPRESSION_TYPE", fault=Fault.USER
):
    """The API version of the request does not support the compression of the partition."""


class StaleBrokerEpochError(BrokerResponseError, code=77, name="STALE_BROKER_EPOCH"):
    """The sending broker has been registered anew since it sent the request."""


class PreferredLeaderNotAvailableError(
    BrokerResponseError,
    code=80,
    name="PREFERRED_LEADER_NOT_AVAILABLE",
    retriable=True,
    invalid_metadata=True,
):
    """The preferred leader cannot take over at this moment."""


class GroupMaxSizeReachedError(
    BrokerResponseError, code=81, name="GROUP_MAX_SIZE_REACHED", fault=Fault.USER, fatal=True
):
    """The group has as many members as the broker allows."""


class EligibleLeadersNotAvailableError(
    BrokerResponseError,
    code=83,
    name="ELIGIBLE_LEADERS_NOT_AVAILABLE",
    retriable=True,
    invalid_metadata=True,
):
    """No replica that may become leader is alive."""


class ElectionNotNeededError(
    BrokerResponseError, code=84, name="ELECTION_NOT_NEEDED", retriable=True, invalid_metadata=True
):
    """The partition has the right leader already."""


class NoReassignmentInProgressError(
    BrokerResponseError, code=85, name="NO_REASSIGNMENT_IN_PROGRESS", fault=Fault.USER
):
    """The partition is not being moved to other replicas."""


class GroupSubscribedToTopicError(
    BrokerResponseError, code=86, name="GROUP_SUBSCRIBED_TO_TOPIC", fault=Fault.USER
):
    """The group still reads the topic whose offsets were to be deleted."""


class ThrottlingQuotaExceededError(
    BrokerResponseError, code=89, name="THROTTLING_QUOTA_EXCEEDED", retriable=True
):
    """A quota on this kind of request is used up for now."""


class ResourceNotFoundError(
    BrokerResponseError, code=91, name="RESOURCE_NOT_FOUND", fault=Fault.USER
):
    """The resource named does not exist."""


class DuplicateResourceError(
    BrokerResponseError, code=92, name="DUPLICATE_RESOURCE", fault=Fault.USER
):
    """The same resource is named twice."""


class UnacceptableCredentialError(
    BrokerResponseError, code=93, name="UNACCEPTABLE_CREDENTIAL", fault=Fault.USER
):
    """The credential does not satisfy the broker's requirements."""


class InconsistentVoterSetError(BrokerResponseError, code=94, name="INCONSISTENT_VOTER_SET"):
    """One side of a quorum request is not among the voters."""


class InvalidUpdateVersionError(
    BrokerResponseError, code=95, name="INVALID_UPDATE_VERSION", fault=Fault.USER
):
    """The version of the feature update is not acceptable."""


class FeatureUpdateFailedError(BrokerResponseError, code=96, name="FEATURE_UPDATE_FAILED"):
    """The broker could not apply the feature update."""


class PrincipalDeserializationFailureError(
    BrokerResponseError, code=97, name="PRINCIPAL_DESERIALIZATION_FAILURE"
):
    """A forwarding broker sent a principal that could not be read."""


class SnapshotNotFoundError(BrokerResponseError, code=98, name="SNAPSHOT_NOT_FOUND"):
    """The snapshot does not exist."""


class PositionOutOfRangeError(BrokerResponseError, code=99, name="POSITION_OUT_OF_RANGE"):
    """The position lies outside the snapshot."""


class DuplicateBrokerRegistrationError(
    BrokerResponseError, code=101, name="DUPLICATE_BROKER_REGISTRATION"
):
    """Another broker is registered under this id."""


class BrokerIdNotRegisteredError(BrokerResponseError, code=102, name="BROKER_ID_NOT_REGISTERED"):
    """No broker is registered under this id."""


class InconsistentClusterIdError(
    BrokerResponseError, code=104, name="INCONSISTENT_CLUSTER_ID", fault=Fault.USER
):
    """The request was meant for another cluster."""


class TransactionalIdNotFoundError(
    BrokerResponseError, code=105, name="TRANSACTIONAL_ID_NOT_FOUND", fault=Fault.USER
):
    """The broker does not know this transactional id."""


class IneligibleReplicaError(BrokerResponseError, code=107, name="INELIGIBLE_REPLICA"):
    """One of the proposed replicas may not join the in-sync replicas."""


class NewLeaderElectedError(BrokerResponseError, code=108, name="NEW_LEADER_ELECTED"):
    """The partition's state was updated and its leader has changed."""


class OffsetMovedToTieredStorageError(
    BrokerResponseError, code=109, name="OFFSET_MOVED_TO_TIERED_STORAGE"
):
    """The offset has been moved to remote storage."""


class UnsupportedAssignorError(
    BrokerResponseError, code=112, name="UNSUPPORTED_ASSIGNOR", fault=Fault.USER, fatal=True
):
    """The broker offers no assignor of this name."""


class MismatchedEndpointTypeError(
    BrokerResponseError, code=114, name="MISMATCHED_ENDPOINT_TYPE", fault=Fault.USER
):
    """The request was sent to a broker's listener instead of a controller's, or the reverse."""


class UnsupportedEndpointTypeError(
    BrokerResponseError, code=115, name="UNSUPPORTED_ENDPOINT_TYPE", fault=Fault.USER
):
    """This kind of listener cannot be described."""


class UnknownControllerIdError(BrokerResponseError, code=116, name="UNKNOWN_CONTROLLER_ID"):
    """No controller of this id is known."""


class UnknownSubscriptionIdError(BrokerResponseError, code=117, name="UNKNOWN_SUBSCRIPTION_ID"):
    """The telemetry subscription has changed; it has to be fetched again."""


class TelemetryTooLargeError(
    BrokerResponseError, code=118, name="TELEMETRY_TOO_LARGE", fault=Fault.LIBRARY
):
    """The telemetry pushed is larger than the broker accepts."""


class InvalidRegistrationError(BrokerResponseError, code=119, name="INVALID_REGISTRATION"):
    """The controller refused the registration of a broker."""


class TransactionAbortableError(BrokerResponseError, code=120, name="TRANSACTION_ABORTABLE"):
    """The transaction has failed and has to be aborted; the transactional id stays usable."""


class InvalidRecordStateError(
    BrokerResponseError, code=121, name="INVALID_RECORD_STATE", fault=Fault.USER
):
    """The record's delivery can no longer be acknowledged."""


class ShareSessionNotFoundError(
    BrokerResponseError, code=122, name="SHARE_SESSION_NOT_FOUND", retriable=True
):
    """The broker has dropped the share session."""


class InvalidShareSessionEpochError(
    BrokerResponseError, code=123, name="INVALID_SHARE_SESSION_EPOCH", retriable=True
):
    """The epoch of the share session is not the one the broker expects."""


class FencedStateEpochError(BrokerResponseError, code=124, name="FENCED_STATE_EPOCH"):
    """The share group's state epoch is not the one the share coordinator expects."""


class InvalidVoterKeyError(BrokerResponseError, code=125, name="INVALID_VOTER_KEY"):
    """The voter's key is not the one of the replica addressed."""


class DuplicateVoterError(BrokerResponseError, code=126, name="DUPLICATE_VOTER"):
    """The node is among the voters already."""


class VoterNotFoundError(BrokerResponseError, code=127, name="VOTER_NOT_FOUND"):
    """The node is not among the voters."""


class InvalidRegularExpressionError(
    BrokerResponseError, code=128, name="INVALID_REGULAR_EXPRESSION", fault=Fault.USER, fatal=True
):
    """The regular expression of the subscription is not valid for the broker."""


class StreamsInvalidTopologyError(
    BrokerResponseError, code=130, name="STREAMS_INVALID_TOPOLOGY", fault=Fault.USER
):
    """The topology of the streams group is not valid."""


class StreamsInvalidTopologyEpochError(
    BrokerResponseError, code=131, name="STREAMS_INVALID_TOPOLOGY_EPOCH", fault=Fault.USER
):
    """The epoch of the streams topology is not valid."""


class StreamsTopologyFencedError(
    BrokerResponseError, code=132, name="STREAMS_TOPOLOGY_FENCED", fault=Fault.USER
):
    """A newer topology of the streams group is in use."""


class ShareSessionLimitReachedError(
    BrokerResponseError, code=133, name="SHARE_SESSION_LIMIT_REACHED", retriable=True
):
    """The broker has as many share sessions open as it allows."""


class GroupDeletionFailedError(BrokerResponseError, code=134, name="GROUP_DELETION_FAILED"):
    """A group was not deleted; the response says why."""


class StreamsTopologyDescriptionUpdateFailedError(
    BrokerResponseError, code=135, name="STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED"
):
    """The broker refused the description of the streams topology; the response says why."""


class ControllerIdNotRegisteredError(
    BrokerResponseError, code=136, name="CONTROLLER_ID_NOT_REGISTERED"
):
    """No controller with this id is registered."""


__all__ = [
    "BrokerIdNotRegisteredError",
    "BrokerNotAvailableError",
    "ClusterAuthorizationFailedError",
    "ConcurrentTransactions",
    "ControllerIdNotRegisteredError",
    "DelegationTokenAuthDisabled",
    "DelegationTokenAuthorizationFailed",
    "DelegationTokenExpired",
    "DelegationTokenNotFound",
    "DelegationTokenOwnerMismatch",
    "DelegationTokenRequestNotAllowed",
    "DuplicateBrokerRegistrationError",
    "DuplicateResourceError",
    "DuplicateVoterError",
    "ElectionNotNeededError",
    "EligibleLeadersNotAvailableError",
    "FeatureUpdateFailedError",
    "FencedStateEpochError",
    "GroupAuthorizationFailedError",
    "GroupDeletionFailedError",
    "GroupMaxSizeReachedError",
    "GroupSubscribedToTopicError",
    "IllegalSaslStateError",
    "InconsistentClusterIdError",
    "InconsistentVoterSetError",
    "IneligibleReplicaError",
    "InvalidCommitOffsetSizeError",
    "InvalidConfigurationError",
    "InvalidFetchRequestError",
    "InvalidFetchSessionEpoch",
    "InvalidGroupIdError",
    "InvalidPartitionsError",
    "InvalidPrincipalType",
    "InvalidRecordStateError",
    "InvalidRegistrationError",
    "InvalidRegularExpressionError",
    "InvalidReplicationAssignmentError",
    "InvalidReplicationFactorError",
    "InvalidRequestError",
    "InvalidRequiredAcksError",
    "InvalidSessionTimeoutError",
    "InvalidShareSessionEpochError",
    "InvalidTimestampError",
    "InvalidTransactionTimeout",
    "InvalidTxnState",
    "InvalidUpdateVersionError",
    "InvalidVoterKeyError",
    "ListenerNotFound",
    "LogDirNotFound",
    "MismatchedEndpointTypeError",
    "NewLeaderElectedError",
    "NoReassignmentInProgressError",
    "NonEmptyGroup",
    "NotControllerError",
    "NotEnoughReplicasAfterAppendError",
    "NotEnoughReplicasError",
    "OffsetMetadataTooLargeError",
    "OffsetMovedToTieredStorageError",
    "OperationNotAttempted",
    "PolicyViolationError",
    "PositionOutOfRangeError",
    "PreferredLeaderNotAvailableError",
    "PrincipalDeserializationFailureError",
    "ReassignmentInProgress",
    "RecordListTooLargeError",
    "ResourceNotFoundError",
    "SaslAuthenticationFailed",
    "SecurityDisabled",
    "ShareSessionLimitReachedError",
    "ShareSessionNotFoundError",
    "SnapshotNotFoundError",
    "StaleBrokerEpochError",
    "StaleControllerEpochError",
    "StaleLeaderEpochCodeError",
    "StreamsInvalidTopologyEpochError",
    "StreamsInvalidTopologyError",
    "StreamsTopologyDescriptionUpdateFailedError",
    "StreamsTopologyFencedError",
    "TelemetryTooLargeError",
    "ThrottlingQuotaExceededError",
    "TopicAlreadyExistsError",
    "TopicDeletionDisabledError",
    "TransactionAbortableError",
    "TransactionCoordinatorFenced",
    "TransactionalIdAuthorizationFailed",
    "TransactionalIdNotFoundError",
    "UnacceptableCredentialError",
    "UnknownControllerIdError",
    "UnknownSubscriptionIdError",
    "UnsupportedAssignorError",
    "UnsupportedCompressionTypeError",
    "UnsupportedEndpointTypeError",
    "UnsupportedSaslMechanismError",
    "VoterNotFoundError",
]
