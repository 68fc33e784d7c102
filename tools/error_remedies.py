"""What to do about each error, for the page of errors of the site.

An error that is not in the table has the sentence of `remedy_of`: the client retries it, or a
broker has to be looked at.
"""

from typing import Any, Final

from aiokafka_lite.kafka_error import Fault

_GRANT: Final = "Grant the right: `aiokafka-lite acls add`."
_CREDENTIALS: Final = "Check user, password or token, and the mechanism."
_OWN_BUG: Final = "Please report it, with the log at DEBUG."
_REJOIN: Final = "Nothing: the member joins again by itself."
_ASK_ANEW: Final = "Ask for a new token, with the admin client."
_NEW_ID: Final = "Nothing: the producer gets a new epoch. If it is raised, start a new producer."

REMEDIES: Final = {
    "AuthenticationFailedError": _CREDENTIALS,
    "AuthenticationMethodNotSupported": "Choose a mechanism that the broker enables.",
    "BufferExhaustedError": "Send more slowly, or raise `buffer_memory` or `max_block_ms`.",
    "Cancelled": "Call again. The request may have been done.",
    "ClusterAuthorizationFailedError": _GRANT,
    "CommitFailedError": "Poll more often, take fewer records a poll, or raise "
    "`max_poll_interval_ms`. The new owner reads the records again.",
    "ConcurrentTransactions": "Nothing: the producer waits for the previous transaction.",
    "ConsumerStoppedError": "End the loop: another task has stopped the consumer.",
    "CorrelationIdError": "Look for a proxy that mixes responses.",
    "CorruptRecordException": "Seek past the offset, and check the broker's disk.",
    "DelegationTokenAuthDisabled": "Set `delegation.token.secret.key` at the brokers.",
    "DelegationTokenAuthorizationFailed": _GRANT,
    "DelegationTokenExpired": _ASK_ANEW,
    "DelegationTokenNotFound": _ASK_ANEW,
    "DelegationTokenOwnerMismatch": "Log in as its owner, or as a renewer that it names.",
    "DelegationTokenRequestNotAllowed": "Log in with a password or certificate, not with a token.",
    "DeliveryTimeoutError": "Read the last failure in its text. The record may have been written, "
    "so a second `send` may write it twice.",
    "DuplicateResourceError": "Name it once.",
    "FeatureNotSupportedError": "Leave the option out, as the message says.",
    "FencedInstanceIdError": "Give each running member a `group_instance_id` of its own.",
    "FrameTooLargeError": "Check the port: the peer may not be a Kafka broker.",
    "GroupAuthorizationFailedError": _GRANT,
    "GroupIdNotFound": "Check the name with `aiokafka-lite groups list`.",
    "GroupMaxSizeReachedError": "Start fewer members, or raise the broker's `group.max.size`.",
    "GroupSubscribedToTopicError": "Stop its members first.",
    "HandlerFailedError": "Mend the handler, or give a dead-letter topic; see "
    "[Keyed workers](keyed-workers.md).",
    "IllegalArgumentError": "Change the arguments that its text names.",
    "IllegalGenerationError": _REJOIN,
    "IllegalOperation": "Set the option that its text names.",
    "IllegalStateError": "Make the calls in the order that its text names.",
    "IncompatibleBrokerVersion": "Leave the feature out, or upgrade the brokers.",
    "InconsistentClusterIdError": "Check that all addresses belong to one cluster.",
    "InconsistentGroupProtocolError": "List the old and the new assignor during the change; see "
    "[Moving](moving.md).",
    "InvalidCommitOffsetSizeError": "Commit fewer partitions at once, or less metadata.",
    "InvalidConfigurationError": "Change the value that the text names.",
    "InvalidGroupIdError": "Give a `group_id`.",
    "InvalidPartitionsError": "Give at least one, and more than the topic has.",
    "InvalidPrincipalType": "Write `User:NAME`.",
    "InvalidProducerEpoch": _NEW_ID,
    "InvalidProducerIdMapping": _NEW_ID,
    "InvalidRecordError": "Change the record: a compacted topic needs keys, for example.",
    "InvalidRecordStateError": "Nothing: another consumer gets the record again.",
    "InvalidRegularExpressionError": "Write the pattern in the syntax of RE2.",
    "InvalidReplicationAssignmentError": "Name each broker once, and as many for each partition.",
    "InvalidReplicationFactorError": "Give at most the number of brokers.",
    "InvalidRequiredAcksError": 'Set `acks` to 0, 1 or "all".',
    "InvalidSessionTimeoutError": "Stay between the broker's `group.min.session.timeout.ms` and "
    "`group.max.session.timeout.ms`.",
    "InvalidTimestampError": "Set the clock right, or raise the topic's "
    "`message.timestamp.before.max.ms` or `message.timestamp.after.max.ms`.",
    "InvalidTopicError": "Use 1 to 249 of `a-z A-Z 0-9 . _ -`.",
    "InvalidTransactionTimeout": "Lower `transaction_timeout_ms`.",
    "InvalidUpdateVersionError": "Choose a level that `aiokafka-lite cluster features` shows.",
    "KafkaConfigurationError": "Change the options that its text names.",
    "KafkaConnectionError": "Check addresses, firewalls and `advertised.listeners`; see "
    "[Troubleshooting](guides/troubleshooting.md).",
    "KafkaProtocolError": "Check that the peer is a Kafka broker.",
    "KafkaStorageError": "Check the disk of the broker.",
    "KafkaTimeoutError": "Call again, or raise the bound that its text names.",
    "KafkaUnavailableError": "Check that the brokers run.",
    "LeaderNotAvailableError": "Nothing: the election ends soon. Else bring the replicas back.",
    "ListenerNotFound": "Give all brokers the same listeners.",
    "LogDirNotFound": "Use a path that `describe_log_dirs` names.",
    "LogTruncationError": "Seek to the offset that its text names, or set `auto_offset_reset`.",
    "MemberIdRequired": _REJOIN,
    "MessageSizeTooLargeError": "Send smaller records, or raise the topic's `max.message.bytes`.",
    "MetadataEmptyBrokerList": "Nothing: the broker is starting.",
    "MismatchedEndpointTypeError": "Use the address of the other listener.",
    "NoBrokersAvailable": "Check that the brokers run.",
    "NoOffsetForPartitionError": 'Set `auto_offset_reset` to "earliest" or "latest", or seek.',
    "NoReassignmentInProgressError": "Nothing: there is nothing to cancel.",
    "NoTransactionError": "Call `begin_transaction()` first.",
    "NodeNotReadyError": "Call again.",
    "NonEmptyGroup": "Stop its members, or `aiokafka-lite groups remove-member`.",
    "NotEnoughReplicasAfterAppendError": "Bring the other replicas back.",
    "NotEnoughReplicasError": "Bring the other replicas back.",
    "OffsetMetadataTooLargeError": "Shorten the metadata of the commit.",
    "OffsetOutOfRangeError": "Seek, or set `auto_offset_reset`: the records were deleted.",
    "OutOfOrderSequenceNumber": _NEW_ID,
    "PartitionRevokedError": "Commit in `on_partitions_revoked`; the new owner reads on.",
    "PolicyViolationError": "Ask for what the broker's policy allows; its text says more.",
    "ProducerClosed": "Start the producer, or make a new one.",
    "ProducerFenced": "Give each running producer a `transactional_id` of its own. Close this one.",
    "ProtocolDecodeError": "Check that the peer is a Kafka broker.",
    "QuotaViolationError": "Send less, or raise the quota.",
    "ReassignmentInProgress": "Wait: `aiokafka-lite reassignments watch`.",
    "RebalanceInProgressError": _REJOIN,
    "RecordDeserializationError": "Seek past the offset that it names, or mend the deserializer.",
    "RecordListTooLargeError": "Lower `max_batch_size`, or send fewer records at once.",
    "RecordTooLargeError": "Send smaller records, or raise the limit that its text names.",
    "RequestTimedOutError": "Look at the load of the broker.",
    "ResourceNotFoundError": "Check the name.",
    "SaslAuthenticationFailed": _CREDENTIALS,
    "SecurityDisabled": "Set an authorizer at the brokers.",
    "SerializationError": "Give bytes, or a serializer for the type that its text names.",
    "StaleMetadata": "Nothing: the client asks anew.",
    "StreamsInvalidTopologyEpochError": "Nothing for these clients: it is about Kafka Streams.",
    "StreamsInvalidTopologyError": "Nothing for these clients: it is about Kafka Streams.",
    "StreamsTopologyFencedError": "Nothing for these clients: it is about Kafka Streams.",
    "ThrottlingQuotaExceededError": "Call again later, or raise the quota.",
    "TlsAuthenticationError": "Follow its text, and see [Security](security.md).",
    "TopicAlreadyExistsError": "Use it, or choose another name.",
    "TopicAuthorizationFailedError": _GRANT,
    "TopicDeletionDisabledError": "Set `delete.topic.enable` at the brokers.",
    "TransactionAbortableError": "Abort the transaction, and do its work again.",
    "TransactionalIdAuthorizationFailed": _GRANT,
    "TransactionalIdNotFoundError": "Check the name with `aiokafka-lite transactions list`.",
    "UnacceptableCredentialError": "Choose iterations and a password that the broker takes.",
    "UnknownMemberIdError": _REJOIN,
    "UnknownProducerId": _NEW_ID,
    "UnknownTopicOrPartitionError": "Check the name, and create the topic.",
    "UnreleasedInstanceIdError": "Wait for the session timeout, or remove the old member.",
    "UnrecognizedBrokerVersion": "Check that the peer is a Kafka broker.",
    "UnstableOffsetCommitError": "Nothing: the client waits for the end of the transaction.",
    "UnsupportedAssignorError": "Choose an assignor that the broker's `group.consumer.assignors` "
    "lists.",
    "UnsupportedCodecError": "Install the library that its text names.",
    "UnsupportedCompressionTypeError": "Choose another `compression_type`.",
    "UnsupportedEndpointTypeError": "Use the address of a broker.",
    "UnsupportedForMessageFormatError": "Upgrade the topic's message format.",
    "UnsupportedSaslMechanismError": "Choose a mechanism that its text lists.",
    "UnsupportedVersionError": "Upgrade the brokers, or leave the feature out.",
}
"""Class -> what to do. "Nothing" means that the client goes on by itself."""


def remedy_of(kind: Any) -> str:
    """Return what to do about an error of a class."""
    told = REMEDIES.get(kind.__name__)
    if told is not None:
        return told
    if kind.retriable:
        return "Nothing: the client retries. If it lasts, look at the brokers."
    if kind.fault is Fault.LIBRARY:
        return _OWN_BUG
    return "Look at the log of the broker."


__all__ = ["REMEDIES", "remedy_of"]
