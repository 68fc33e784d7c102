"""One class per error code of a broker's response, up to Apache Kafka 4.4.0.

Here are those that parts of the clients name, and `rare_broker_errors` has the others. A program
imports all of them from here, or from `errors`. Does not wait.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from aiokafka_lite.broker_response_error import BrokerResponseError, defined_errors
from aiokafka_lite.kafka_error import Fault

if TYPE_CHECKING:
    from aiokafka_lite.rare_broker_errors import (
        BrokerIdNotRegisteredError,
        BrokerNotAvailableError,
        ClusterAuthorizationFailedError,
        ConcurrentTransactions,
        ControllerIdNotRegisteredError,
        DelegationTokenAuthDisabled,
        DelegationTokenAuthorizationFailed,
        DelegationTokenExpired,
        DelegationTokenNotFound,
        DelegationTokenOwnerMismatch,
        DelegationTokenRequestNotAllowed,
        DuplicateBrokerRegistrationError,
        DuplicateResourceError,
        DuplicateVoterError,
        ElectionNotNeededError,
        EligibleLeadersNotAvailableError,
        FeatureUpdateFailedError,
        FencedStateEpochError,
        GroupAuthorizationFailedError,
        GroupDeletionFailedError,
        GroupMaxSizeReachedError,
        GroupSubscribedToTopicError,
        IllegalSaslStateError,
        InconsistentClusterIdError,
        InconsistentVoterSetError,
        IneligibleReplicaError,
        InvalidCommitOffsetSizeError,
        InvalidConfigurationError,
        InvalidFetchRequestError,
        InvalidFetchSessionEpoch,
        InvalidGroupIdError,
        InvalidPartitionsError,
        InvalidPrincipalType,
        InvalidRecordStateError,
        InvalidRegistrationError,
        InvalidRegularExpressionError,
        InvalidReplicationAssignmentError,
        InvalidReplicationFactorError,
        InvalidRequestError,
        InvalidRequiredAcksError,
        InvalidSessionTimeoutError,
        InvalidShareSessionEpochError,
        InvalidTimestampError,
        InvalidTransactionTimeout,
        InvalidTxnState,
        InvalidUpdateVersionError,
        InvalidVoterKeyError,
        ListenerNotFound,
        LogDirNotFound,
        MismatchedEndpointTypeError,
        NewLeaderElectedError,
        NonEmptyGroup,
        NoReassignmentInProgressError,
        NotControllerError,
        NotEnoughReplicasAfterAppendError,
        NotEnoughReplicasError,
        OffsetMetadataTooLargeError,
        OffsetMovedToTieredStorageError,
        OperationNotAttempted,
        PolicyViolationError,
        PositionOutOfRangeError,
        PreferredLeaderNotAvailableError,
        PrincipalDeserializationFailureError,
        ReassignmentInProgress,
        RecordListTooLargeError,
        ResourceNotFoundError,
        SaslAuthenticationFailed,
        SecurityDisabled,
        ShareSessionLimitReachedError,
        ShareSessionNotFoundError,
        SnapshotNotFoundError,
        StaleBrokerEpochError,
        StaleControllerEpochError,
        StaleLeaderEpochCodeError,
        StreamsInvalidTopologyEpochError,
        StreamsInvalidTopologyError,
        StreamsTopologyDescriptionUpdateFailedError,
        StreamsTopologyFencedError,
        TelemetryTooLargeError,
        ThrottlingQuotaExceededError,
        TopicAlreadyExistsError,
        TopicDeletionDisabledError,
        TransactionAbortableError,
        TransactionalIdAuthorizationFailed,
        TransactionalIdNotFoundError,
        TransactionCoordinatorFenced,
        UnacceptableCredentialError,
        UnknownControllerIdError,
        UnknownSubscriptionIdError,
        UnsupportedAssignorError,
        UnsupportedCompressionTypeError,
        UnsupportedEndpointTypeError,
        UnsupportedSaslMechanismError,
        VoterNotFoundError,
    )

    kafka_errors: dict[int, type[BrokerResponseError]]
    """Error code -> class, for every known code including 0 (`NoError`)."""


def for_code(error_code: int) -> type[BrokerResponseError]:
    """Return the class of an error code; `UnknownError` when the code is not known."""
    return defined_errors.get(error_code) or _all_errors().get(error_code, UnknownError)


def _all_errors() -> dict[int, type[BrokerResponseError]]:
    # Its import defines them. Most programs never need them.
    import_module("aiokafka_lite.rare_broker_errors")
    return defined_errors


if not TYPE_CHECKING:  # or a wrong name would be an object to type checkers

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        everything = _all_errors()
        rare = {error.__name__: error for error in everything.values()}
        globals()[name] = found = everything if name == "kafka_errors" else rare[name]
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


class UnknownError(BrokerResponseError, code=-1, name="UNKNOWN_SERVER_ERROR"):
    """The broker failed in a way that has no error code. Its log says more."""


class NoError(BrokerResponseError, code=0, name="NONE"):
    """The request succeeded."""


class OffsetOutOfRangeError(
    BrokerResponseError, code=1, name="OFFSET_OUT_OF_RANGE", fault=Fault.USER
):
    """The offset lies before the start or beyond the end of the partition's log."""


class CorruptRecordException(BrokerResponseError, code=2, name="CORRUPT_MESSAGE", retriable=True):
    """The bytes of a record batch do not match their checksum or are malformed."""

    def __init__(
        self,
        *args: object,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> None:
        """Add where the bad bytes are, if the client found them itself."""
        super().__init__(*args)
        self.topic = topic
        self.partition = partition
        self.offset = offset


class UnknownTopicOrPartitionError(
    BrokerResponseError,
    code=3,
    name="UNKNOWN_TOPIC_OR_PARTITION",
    retriable=True,
    invalid_metadata=True,
):
    """The broker does not know this topic or partition."""


class LeaderNotAvailableError(
    BrokerResponseError, code=5, name="LEADER_NOT_AVAILABLE", retriable=True, invalid_metadata=True
):
    """The partition has no leader at this moment; an election is going on."""


class NotLeaderForPartitionError(
    BrokerResponseError,
    code=6,
    name="NOT_LEADER_OR_FOLLOWER",
    retriable=True,
    invalid_metadata=True,
):
    """The broker is not, or no longer, the leader or a replica of the partition."""


class RequestTimedOutError(BrokerResponseError, code=7, name="REQUEST_TIMED_OUT", retriable=True):
    """The broker could not finish the request within the time it was given."""


class ReplicaNotAvailableError(
    BrokerResponseError, code=9, name="REPLICA_NOT_AVAILABLE", retriable=True, invalid_metadata=True
):
    """The requested replica is not available."""


class MessageSizeTooLargeError(
    BrokerResponseError, code=10, name="MESSAGE_TOO_LARGE", fault=Fault.USER
):
    """A record batch is larger than the broker or topic accepts (message.max.bytes)."""


class GroupLoadInProgressError(
    BrokerResponseError, code=14, name="COORDINATOR_LOAD_IN_PROGRESS", retriable=True
):
    """The coordinator is still reading its state from disk."""


class GroupCoordinatorNotAvailableError(
    BrokerResponseError, code=15, name="COORDINATOR_NOT_AVAILABLE", retriable=True
):
    """No coordinator is available for this group or transactional id yet."""


class NotCoordinatorForGroupError(
    BrokerResponseError, code=16, name="NOT_COORDINATOR", retriable=True
):
    """The broker is no longer the coordinator of this group or transactional id."""


class InvalidTopicError(
    BrokerResponseError, code=17, name="INVALID_TOPIC_EXCEPTION", fault=Fault.USER
):
    """The topic's name is illegal, or the operation is not allowed on an internal topic."""


class IllegalGenerationError(BrokerResponseError, code=22, name="ILLEGAL_GENERATION"):
    """The member's generation is not the group's current one."""


class InconsistentGroupProtocolError(
    BrokerResponseError, code=23, name="INCONSISTENT_GROUP_PROTOCOL", fault=Fault.USER, fatal=True
):
    """The member shares no assignment strategy with the rest of its group."""


class UnknownMemberIdError(BrokerResponseError, code=25, name="UNKNOWN_MEMBER_ID"):
    """The coordinator does not know this member, or has expelled it."""


class RebalanceInProgressError(BrokerResponseError, code=27, name="REBALANCE_IN_PROGRESS"):
    """The group is rebalancing and the member has to join again."""


class TopicAuthorizationFailedError(
    BrokerResponseError, code=29, name="TOPIC_AUTHORIZATION_FAILED", fault=Fault.USER
):
    """The user of this client may not do this with the topic. Grant READ to consume and WRITE to
    produce; a topic that does not exist yet also needs CREATE."""


class UnsupportedVersionError(
    BrokerResponseError, code=35, name="UNSUPPORTED_VERSION", fault=Fault.LIBRARY, fatal=True
):
    """The broker does not support the version of the API that the request has."""


class UnsupportedForMessageFormatError(
    BrokerResponseError, code=43, name="UNSUPPORTED_FOR_MESSAGE_FORMAT", fault=Fault.USER
):
    """The topic's old message format does not support the request."""


class OutOfOrderSequenceNumber(BrokerResponseError, code=45, name="OUT_OF_ORDER_SEQUENCE_NUMBER"):
    """The batch's sequence number does not follow the last one the broker has seen."""


class DuplicateSequenceNumber(BrokerResponseError, code=46, name="DUPLICATE_SEQUENCE_NUMBER"):
    """The broker has seen the batch's sequence number already."""


class InvalidProducerEpoch(BrokerResponseError, code=47, name="INVALID_PRODUCER_EPOCH"):
    """The producer's epoch is older than the one the broker knows."""


class InvalidProducerIdMapping(
    BrokerResponseError, code=49, name="INVALID_PRODUCER_ID_MAPPING", fatal=True
):
    """The producer id is not, or no longer, assigned to the transactional id."""


class KafkaStorageError(
    BrokerResponseError, code=56, name="KAFKA_STORAGE_ERROR", retriable=True, invalid_metadata=True
):
    """The broker could not read from its disk or write to it."""


class UnknownProducerId(BrokerResponseError, code=59, name="UNKNOWN_PRODUCER_ID"):
    """The broker has no state of this producer id left, because its records have expired."""


class GroupIdNotFound(BrokerResponseError, code=69, name="GROUP_ID_NOT_FOUND", fault=Fault.USER):
    """The broker knows no group of this id."""


class FetchSessionIdNotFound(
    BrokerResponseError, code=70, name="FETCH_SESSION_ID_NOT_FOUND", retriable=True
):
    """The broker has dropped the fetch session; the next full fetch opens a new one."""


class FencedLeaderEpochError(
    BrokerResponseError, code=74, name="FENCED_LEADER_EPOCH", retriable=True, invalid_metadata=True
):
    """The leader epoch known to the client is older than the broker's."""


class UnknownLeaderEpochError(
    BrokerResponseError, code=75, name="UNKNOWN_LEADER_EPOCH", retriable=True
):
    """The leader epoch known to the client is newer than the broker's."""


class OffsetNotAvailableError(
    BrokerResponseError, code=78, name="OFFSET_NOT_AVAILABLE", retriable=True
):
    """A new leader does not know yet how far the partition's log is committed; ask again later."""


class MemberIdRequired(BrokerResponseError, code=79, name="MEMBER_ID_REQUIRED"):
    """The member has to join again with the member id that this response assigns."""


class FencedInstanceIdError(
    BrokerResponseError, code=82, name="FENCED_INSTANCE_ID", fault=Fault.USER, fatal=True
):
    """Another member has joined with the same group_instance_id."""


class InvalidRecordError(BrokerResponseError, code=87, name="INVALID_RECORD", fault=Fault.USER):
    """The broker's validation refused a record."""


class UnstableOffsetCommitError(
    BrokerResponseError, code=88, name="UNSTABLE_OFFSET_COMMIT", retriable=True
):
    """The offsets belong to a transaction that has not finished yet."""


class ProducerFenced(
    BrokerResponseError, code=90, name="PRODUCER_FENCED", fault=Fault.USER, fatal=True
):
    """A newer producer uses this transactional id, or a transaction has timed out."""


class UnknownTopicIdError(
    BrokerResponseError, code=100, name="UNKNOWN_TOPIC_ID", retriable=True, invalid_metadata=True
):
    """The broker does not know this topic id."""


class InconsistentTopicIdError(
    BrokerResponseError,
    code=103,
    name="INCONSISTENT_TOPIC_ID",
    retriable=True,
    invalid_metadata=True,
):
    """The topic id is not the id of the partition's log."""


class FetchSessionTopicIdError(
    BrokerResponseError, code=106, name="FETCH_SESSION_TOPIC_ID_ERROR", retriable=True
):
    """The fetch session mixes ids and names in a way that the broker does not support."""


class FencedMemberEpochError(BrokerResponseError, code=110, name="FENCED_MEMBER_EPOCH"):
    """The member's epoch is fenced; it has to give up its partitions and join again."""


class UnreleasedInstanceIdError(
    BrokerResponseError, code=111, name="UNRELEASED_INSTANCE_ID", fault=Fault.USER, fatal=True
):
    """The group_instance_id still belongs to a member that has not left."""


class StaleMemberEpochError(BrokerResponseError, code=113, name="STALE_MEMBER_EPOCH"):
    """The member's epoch is older than the coordinator's; the next heartbeat brings the new one."""


class RebootstrapRequiredError(BrokerResponseError, code=129, name="REBOOTSTRAP_REQUIRED"):
    """The client's metadata of the cluster is too old; it has to bootstrap again."""


# Second names that aiokafka has for these classes.
InvalidMessageError = CorruptRecordException
CoordinatorLoadInProgressError = GroupLoadInProgressError
CoordinatorNotAvailableError = GroupCoordinatorNotAvailableError
NotCoordinatorError = NotCoordinatorForGroupError

__all__ = [
    "BrokerIdNotRegisteredError",
    "BrokerNotAvailableError",
    "BrokerResponseError",
    "ClusterAuthorizationFailedError",
    "ConcurrentTransactions",
    "ControllerIdNotRegisteredError",
    "CoordinatorLoadInProgressError",
    "CoordinatorNotAvailableError",
    "CorruptRecordException",
    "DelegationTokenAuthDisabled",
    "DelegationTokenAuthorizationFailed",
    "DelegationTokenExpired",
    "DelegationTokenNotFound",
    "DelegationTokenOwnerMismatch",
    "DelegationTokenRequestNotAllowed",
    "DuplicateBrokerRegistrationError",
    "DuplicateResourceError",
    "DuplicateSequenceNumber",
    "DuplicateVoterError",
    "ElectionNotNeededError",
    "EligibleLeadersNotAvailableError",
    "FeatureUpdateFailedError",
    "FencedInstanceIdError",
    "FencedLeaderEpochError",
    "FencedMemberEpochError",
    "FencedStateEpochError",
    "FetchSessionIdNotFound",
    "FetchSessionTopicIdError",
    "GroupAuthorizationFailedError",
    "GroupCoordinatorNotAvailableError",
    "GroupDeletionFailedError",
    "GroupIdNotFound",
    "GroupLoadInProgressError",
    "GroupMaxSizeReachedError",
    "GroupSubscribedToTopicError",
    "IllegalGenerationError",
    "IllegalSaslStateError",
    "InconsistentClusterIdError",
    "InconsistentGroupProtocolError",
    "InconsistentTopicIdError",
    "InconsistentVoterSetError",
    "IneligibleReplicaError",
    "InvalidCommitOffsetSizeError",
    "InvalidConfigurationError",
    "InvalidFetchRequestError",
    "InvalidFetchSessionEpoch",
    "InvalidGroupIdError",
    "InvalidMessageError",
    "InvalidPartitionsError",
    "InvalidPrincipalType",
    "InvalidProducerEpoch",
    "InvalidProducerIdMapping",
    "InvalidRecordError",
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
    "InvalidTopicError",
    "InvalidTransactionTimeout",
    "InvalidTxnState",
    "InvalidUpdateVersionError",
    "InvalidVoterKeyError",
    "KafkaStorageError",
    "LeaderNotAvailableError",
    "ListenerNotFound",
    "LogDirNotFound",
    "MemberIdRequired",
    "MessageSizeTooLargeError",
    "MismatchedEndpointTypeError",
    "NewLeaderElectedError",
    "NoError",
    "NoReassignmentInProgressError",
    "NonEmptyGroup",
    "NotControllerError",
    "NotCoordinatorError",
    "NotCoordinatorForGroupError",
    "NotEnoughReplicasAfterAppendError",
    "NotEnoughReplicasError",
    "NotLeaderForPartitionError",
    "OffsetMetadataTooLargeError",
    "OffsetMovedToTieredStorageError",
    "OffsetNotAvailableError",
    "OffsetOutOfRangeError",
    "OperationNotAttempted",
    "OutOfOrderSequenceNumber",
    "PolicyViolationError",
    "PositionOutOfRangeError",
    "PreferredLeaderNotAvailableError",
    "PrincipalDeserializationFailureError",
    "ProducerFenced",
    "ReassignmentInProgress",
    "RebalanceInProgressError",
    "RebootstrapRequiredError",
    "RecordListTooLargeError",
    "ReplicaNotAvailableError",
    "RequestTimedOutError",
    "ResourceNotFoundError",
    "SaslAuthenticationFailed",
    "SecurityDisabled",
    "ShareSessionLimitReachedError",
    "ShareSessionNotFoundError",
    "SnapshotNotFoundError",
    "StaleBrokerEpochError",
    "StaleControllerEpochError",
    "StaleLeaderEpochCodeError",
    "StaleMemberEpochError",
    "StreamsInvalidTopologyEpochError",
    "StreamsInvalidTopologyError",
    "StreamsTopologyDescriptionUpdateFailedError",
    "StreamsTopologyFencedError",
    "TelemetryTooLargeError",
    "ThrottlingQuotaExceededError",
    "TopicAlreadyExistsError",
    "TopicAuthorizationFailedError",
    "TopicDeletionDisabledError",
    "TransactionAbortableError",
    "TransactionCoordinatorFenced",
    "TransactionalIdAuthorizationFailed",
    "TransactionalIdNotFoundError",
    "UnacceptableCredentialError",
    "UnknownControllerIdError",
    "UnknownError",
    "UnknownLeaderEpochError",
    "UnknownMemberIdError",
    "UnknownProducerId",
    "UnknownSubscriptionIdError",
    "UnknownTopicIdError",
    "UnknownTopicOrPartitionError",
    "UnreleasedInstanceIdError",
    "UnstableOffsetCommitError",
    "UnsupportedAssignorError",
    "UnsupportedCompressionTypeError",
    "UnsupportedEndpointTypeError",
    "UnsupportedForMessageFormatError",
    "UnsupportedSaslMechanismError",
    "UnsupportedVersionError",
    "VoterNotFoundError",
    "for_code",
    "kafka_errors",
]
