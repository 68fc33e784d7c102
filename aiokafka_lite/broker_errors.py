"""One class per error code of a broker's response, up to Apache Kafka 4.4.0.

Each class states its code, Kafka's name of the code, the facts of `ErrorFacts` and the meaning. A
class has aiokafka's name if aiokafka knows the code. Otherwise its name is made from Kafka's name.
`retriable` and `invalid_metadata` follow the Java client. A code that a newer broker adds becomes
`UnknownError`.
"""

from typing import ClassVar

from aiokafka_lite.kafka_error import Fault, KafkaError

kafka_errors: dict[int, type["BrokerResponseError"]] = {}
"""Error code -> class, for every known code including 0 (`NoError`)."""


class BrokerResponseError(KafkaError):
    """A broker answered with an error code. The docstring of each subclass is its `description`."""

    errno: ClassVar[int]
    """The error code on the wire."""
    message: ClassVar[str]
    """Kafka's name of the code, such as NOT_LEADER_OR_FOLLOWER."""
    description: ClassVar[str] = ""
    """What the code means, in one sentence."""
    fault: ClassVar[Fault] = Fault.CLUSTER

    def __init_subclass__(
        cls,
        *,
        code: int | None = None,
        name: str = "",
        fault: Fault | None = None,
        retriable: bool = False,
        invalid_metadata: bool = False,
        fatal: bool = False,
    ) -> None:
        super().__init_subclass__()
        if code is None:  # a subclass that an application derives has the facts of its base
            return
        if code in kafka_errors:
            raise TypeError(f"error code {code} belongs to {kafka_errors[code].__name__} already")
        cls.errno = code
        cls.message = name
        cls.description = " ".join((cls.__doc__ or "").split())  # python -OO removes only these
        cls.fault = fault or cls.fault
        cls.retriable = retriable
        cls.invalid_metadata = invalid_metadata
        cls.fatal = fatal
        kafka_errors[code] = cls

    @classmethod
    def explained(cls, message: str | None) -> str:
        """Return the broker's message, or without one the description. A message about a missing
        right is followed by the description, which names the rights.
        """
        if not message:
            return cls.description
        if not cls.message.endswith("AUTHORIZATION_FAILED"):
            return message
        return f"{message.rstrip().rstrip('.')}. {cls.description}"

    def __str__(self) -> str:
        text = super().__str__()
        if not self.args and self.description:
            text = f"{text}: {self.description}"
        return f"[Error {self.errno}] {text}"


def for_code(error_code: int) -> type[BrokerResponseError]:
    """Return the class of an error code; `UnknownError` when the code is not known."""
    return kafka_errors.get(error_code, UnknownError)


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


class InvalidFetchRequestError(
    BrokerResponseError, code=4, name="INVALID_FETCH_SIZE", fault=Fault.LIBRARY
):
    """The size given in a fetch request is impossible."""


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


class BrokerNotAvailableError(BrokerResponseError, code=8, name="BROKER_NOT_AVAILABLE"):
    """The broker that the request needs is not alive."""


class ReplicaNotAvailableError(
    BrokerResponseError, code=9, name="REPLICA_NOT_AVAILABLE", retriable=True, invalid_metadata=True
):
    """The requested replica is not available."""


class MessageSizeTooLargeError(
    BrokerResponseError, code=10, name="MESSAGE_TOO_LARGE", fault=Fault.USER
):
    """A record batch is larger than the broker or topic accepts (message.max.bytes)."""


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


class IllegalGenerationError(BrokerResponseError, code=22, name="ILLEGAL_GENERATION"):
    """The member's generation is not the group's current one."""


class InconsistentGroupProtocolError(
    BrokerResponseError, code=23, name="INCONSISTENT_GROUP_PROTOCOL", fault=Fault.USER, fatal=True
):
    """The member shares no assignment strategy with the rest of its group."""


class InvalidGroupIdError(
    BrokerResponseError, code=24, name="INVALID_GROUP_ID", fault=Fault.USER, fatal=True
):
    """The group id is empty or illegal."""


class UnknownMemberIdError(BrokerResponseError, code=25, name="UNKNOWN_MEMBER_ID"):
    """The coordinator does not know this member, or has expelled it."""


class InvalidSessionTimeoutError(
    BrokerResponseError, code=26, name="INVALID_SESSION_TIMEOUT", fault=Fault.USER, fatal=True
):
    """session_timeout_ms lies outside the range the broker allows."""


class RebalanceInProgressError(BrokerResponseError, code=27, name="REBALANCE_IN_PROGRESS"):
    """The group is rebalancing and the member has to join again."""


class InvalidCommitOffsetSizeError(
    BrokerResponseError, code=28, name="INVALID_COMMIT_OFFSET_SIZE", fault=Fault.USER
):
    """The offsets committed at once are larger than the broker accepts."""


class TopicAuthorizationFailedError(
    BrokerResponseError, code=29, name="TOPIC_AUTHORIZATION_FAILED", fault=Fault.USER
):
    """The user of this client may not do this with the topic. Grant READ to consume and WRITE to
    produce; a topic that does not exist yet also needs CREATE."""


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


class UnsupportedVersionError(
    BrokerResponseError, code=35, name="UNSUPPORTED_VERSION", fault=Fault.LIBRARY, fatal=True
):
    """The broker does not support the version of the API that the request has."""


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


class UnsupportedForMessageFormatError(
    BrokerResponseError, code=43, name="UNSUPPORTED_FOR_MESSAGE_FORMAT", fault=Fault.USER
):
    """The topic's old message format does not support the request."""


class PolicyViolationError(BrokerResponseError, code=44, name="POLICY_VIOLATION", fault=Fault.USER):
    """A policy set up on the broker refuses the request."""


class OutOfOrderSequenceNumber(BrokerResponseError, code=45, name="OUT_OF_ORDER_SEQUENCE_NUMBER"):
    """The batch's sequence number does not follow the last one the broker has seen."""


class DuplicateSequenceNumber(BrokerResponseError, code=46, name="DUPLICATE_SEQUENCE_NUMBER"):
    """The broker has seen the batch's sequence number already."""


class InvalidProducerEpoch(BrokerResponseError, code=47, name="INVALID_PRODUCER_EPOCH"):
    """The producer's epoch is older than the one the broker knows."""


class InvalidTxnState(
    BrokerResponseError, code=48, name="INVALID_TXN_STATE", fault=Fault.LIBRARY, fatal=True
):
    """The operation does not fit the state of the transaction."""


class InvalidProducerIdMapping(BrokerResponseError, code=49, name="INVALID_PRODUCER_ID_MAPPING"):
    """The producer id is not, or no longer, assigned to the transactional id."""


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


class KafkaStorageError(
    BrokerResponseError, code=56, name="KAFKA_STORAGE_ERROR", retriable=True, invalid_metadata=True
):
    """The broker could not read from its disk or write to it."""


class LogDirNotFound(BrokerResponseError, code=57, name="LOG_DIR_NOT_FOUND", fault=Fault.USER):
    """The broker has no log directory of this name."""


class SaslAuthenticationFailed(
    BrokerResponseError, code=58, name="SASL_AUTHENTICATION_FAILED", fault=Fault.USER, fatal=True
):
    """The broker refused the credentials."""


class UnknownProducerId(BrokerResponseError, code=59, name="UNKNOWN_PRODUCER_ID"):
    """The broker has no state of this producer id left, because its records have expired."""


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


class GroupIdNotFound(BrokerResponseError, code=69, name="GROUP_ID_NOT_FOUND", fault=Fault.USER):
    """The broker knows no group of this id."""


class FetchSessionIdNotFound(
    BrokerResponseError, code=70, name="FETCH_SESSION_ID_NOT_FOUND", retriable=True
):
    """The broker has dropped the fetch session; the next full fetch opens a new one."""


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


class FencedLeaderEpochError(
    BrokerResponseError, code=74, name="FENCED_LEADER_EPOCH", retriable=True, invalid_metadata=True
):
    """The leader epoch known to the client is older than the broker's."""


class UnknownLeaderEpochError(
    BrokerResponseError, code=75, name="UNKNOWN_LEADER_EPOCH", retriable=True
):
    """The leader epoch known to the client is newer than the broker's."""


class UnsupportedCompressionTypeError(
    BrokerResponseError, code=76, name="UNSUPPORTED_COMPRESSION_TYPE", fault=Fault.USER
):
    """The API version of the request does not support the compression of the partition."""


class StaleBrokerEpochError(BrokerResponseError, code=77, name="STALE_BROKER_EPOCH"):
    """The sending broker has been registered anew since it sent the request."""


class OffsetNotAvailableError(
    BrokerResponseError, code=78, name="OFFSET_NOT_AVAILABLE", retriable=True
):
    """A new leader does not know yet how far the partition's log is committed; ask again later."""


class MemberIdRequired(BrokerResponseError, code=79, name="MEMBER_ID_REQUIRED"):
    """The member has to join again with the member id that this response assigns."""


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


class FencedInstanceIdError(
    BrokerResponseError, code=82, name="FENCED_INSTANCE_ID", fault=Fault.USER, fatal=True
):
    """Another member has joined with the same group_instance_id."""


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


class InvalidRecordError(BrokerResponseError, code=87, name="INVALID_RECORD", fault=Fault.USER):
    """The broker's validation refused a record."""


class UnstableOffsetCommitError(
    BrokerResponseError, code=88, name="UNSTABLE_OFFSET_COMMIT", retriable=True
):
    """The offsets belong to a transaction that has not finished yet."""


class ThrottlingQuotaExceededError(
    BrokerResponseError, code=89, name="THROTTLING_QUOTA_EXCEEDED", retriable=True
):
    """A quota on this kind of request is used up for now."""


class ProducerFenced(
    BrokerResponseError, code=90, name="PRODUCER_FENCED", fault=Fault.USER, fatal=True
):
    """A newer producer uses this transactional id, or a transaction has timed out."""


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


class UnknownTopicIdError(
    BrokerResponseError, code=100, name="UNKNOWN_TOPIC_ID", retriable=True, invalid_metadata=True
):
    """The broker does not know this topic id."""


class DuplicateBrokerRegistrationError(
    BrokerResponseError, code=101, name="DUPLICATE_BROKER_REGISTRATION"
):
    """Another broker is registered under this id."""


class BrokerIdNotRegisteredError(BrokerResponseError, code=102, name="BROKER_ID_NOT_REGISTERED"):
    """No broker is registered under this id."""


class InconsistentTopicIdError(
    BrokerResponseError,
    code=103,
    name="INCONSISTENT_TOPIC_ID",
    retriable=True,
    invalid_metadata=True,
):
    """The topic id is not the id of the partition's log."""


class InconsistentClusterIdError(
    BrokerResponseError, code=104, name="INCONSISTENT_CLUSTER_ID", fault=Fault.USER
):
    """The request was meant for another cluster."""


class TransactionalIdNotFoundError(
    BrokerResponseError, code=105, name="TRANSACTIONAL_ID_NOT_FOUND", fault=Fault.USER
):
    """The broker does not know this transactional id."""


class FetchSessionTopicIdError(
    BrokerResponseError, code=106, name="FETCH_SESSION_TOPIC_ID_ERROR", retriable=True
):
    """The fetch session mixes ids and names in a way that the broker does not support."""


class IneligibleReplicaError(BrokerResponseError, code=107, name="INELIGIBLE_REPLICA"):
    """One of the proposed replicas may not join the in-sync replicas."""


class NewLeaderElectedError(BrokerResponseError, code=108, name="NEW_LEADER_ELECTED"):
    """The partition's state was updated and its leader has changed."""


class OffsetMovedToTieredStorageError(
    BrokerResponseError, code=109, name="OFFSET_MOVED_TO_TIERED_STORAGE"
):
    """The offset has been moved to remote storage."""


class FencedMemberEpochError(BrokerResponseError, code=110, name="FENCED_MEMBER_EPOCH"):
    """The member's epoch is fenced; it has to give up its partitions and join again."""


class UnreleasedInstanceIdError(
    BrokerResponseError, code=111, name="UNRELEASED_INSTANCE_ID", fault=Fault.USER, fatal=True
):
    """The group_instance_id still belongs to a member that has not left."""


class UnsupportedAssignorError(
    BrokerResponseError, code=112, name="UNSUPPORTED_ASSIGNOR", fault=Fault.USER, fatal=True
):
    """The broker offers no assignor of this name."""


class StaleMemberEpochError(BrokerResponseError, code=113, name="STALE_MEMBER_EPOCH"):
    """The member's epoch is older than the coordinator's; the next heartbeat brings the new one."""


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


class RebootstrapRequiredError(BrokerResponseError, code=129, name="REBOOTSTRAP_REQUIRED"):
    """The client's metadata of the cluster is too old; it has to bootstrap again."""


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
