"""What to do about each error, for the page of errors of the site.

An error that is not in the table is one that the clients retry by themselves.
"""

from typing import Any, Final

_GRANT: Final = "Grant the right: `aiokafka-lite acls add`."
_CREDENTIALS: Final = "Check user, password or token, and the mechanism."
_OWN_BUG: Final = "Please report it, with the log at DEBUG."
_REJOIN: Final = "Nothing: the member joins again by itself."
_AGAIN: Final = "Nothing: the client asks for what it needs, and goes on by itself."
_NOT_FOR_CLIENTS: Final = "Nothing: brokers tell it one another. A client never gets it."
_ASK_ANEW: Final = "Ask for a new token, with the admin client."
_NEW_ID: Final = "Nothing: the producer gets a new epoch. If it is raised, start a new producer."

REMEDIES: Final = {
    "AuthenticationFailedError": _CREDENTIALS,
    "AuthenticationMethodNotSupported": "Choose a mechanism that the broker enables.",
    "BrokerIdNotRegisteredError": "Check the id with `aiokafka-lite cluster describe`.",
    "BrokerNotAvailableError": "Start the broker again, or wait: the client asks another one.",
    "BrokerResponseError": "Catch it for all errors of brokers. Its subclasses say more.",
    "BufferExhaustedError": "Send more slowly, or raise `buffer_memory` or `max_block_ms`.",
    "Cancelled": "Call again. The request may have been done.",
    "ClusterAuthorizationFailedError": _GRANT,
    "CommitFailedError": "Poll more often, take fewer records a poll, or raise "
    "`max_poll_interval_ms`. The new owner reads the records again.",
    "ConcurrentTransactions": "Nothing: the producer waits for the previous transaction.",
    "ConsumerStoppedError": "End the loop: another task has stopped the consumer.",
    "ControllerIdNotRegisteredError": _NOT_FOR_CLIENTS,
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
    "DuplicateBrokerRegistrationError": _NOT_FOR_CLIENTS,
    "DuplicateResourceError": "Name it once.",
    "DuplicateSequenceNumber": "Nothing: the batch was written before, and counts once.",
    "DuplicateVoterError": "Look at `aiokafka-lite cluster quorum`.",
    "ElectionNotNeededError": "Nothing: the right replica leads already.",
    "EligibleLeadersNotAvailableError": "Start a broker that has the partition. An "
    "unclean election loses records.",
    "FeatureNotSupportedError": "Leave the option out, as the message says.",
    "FeatureUpdateFailedError": "Read its text; `aiokafka-lite cluster features` shows the levels.",
    "FencedInstanceIdError": "Give each running member a `group_instance_id` of its own.",
    "FencedMemberEpochError": _REJOIN,
    "FencedStateEpochError": _NOT_FOR_CLIENTS,
    "FrameTooLargeError": "Check the port: the peer may not be a Kafka broker.",
    "GroupAuthorizationFailedError": _GRANT,
    "GroupDeletionFailedError": "Read its text, and delete the group again.",
    "GroupIdNotFound": "Check the name with `aiokafka-lite groups list`.",
    "GroupMaxSizeReachedError": "Start fewer members, or raise the broker's `group.max.size`.",
    "GroupSubscribedToTopicError": "Stop its members first.",
    "HandlerFailedError": "Mend the handler, or give a dead-letter topic; see "
    "[Keyed workers](keyed-workers.md).",
    "IllegalArgumentError": "Change the arguments that its text names.",
    "IllegalGenerationError": _REJOIN,
    "IllegalOperation": "Set the option that its text names.",
    "IllegalSaslStateError": "Check `security_protocol` and `sasl_mechanism` against the listener.",
    "IllegalStateError": "Make the calls in the order that its text names.",
    "IncompatibleBrokerVersion": "Leave the feature out, or upgrade the brokers.",
    "InconsistentClusterIdError": "Check that all addresses belong to one cluster.",
    "InconsistentGroupProtocolError": "List the old and the new assignor during the change; see "
    "[Moving](moving.md).",
    "InconsistentVoterSetError": _NOT_FOR_CLIENTS,
    "IneligibleReplicaError": _NOT_FOR_CLIENTS,
    "InvalidCommitOffsetSizeError": "Commit fewer partitions at once, or less metadata.",
    "InvalidConfigurationError": "Change the value that the text names.",
    "InvalidFetchRequestError": _OWN_BUG,
    "InvalidGroupIdError": "Give a `group_id`.",
    "InvalidPartitionsError": "Give at least one, and more than the topic has.",
    "InvalidPrincipalType": "Write `User:NAME`.",
    "InvalidProducerEpoch": _NEW_ID,
    "InvalidProducerIdMapping": _NEW_ID,
    "InvalidRecordError": "Change the record: a compacted topic needs keys, for example.",
    "InvalidRecordStateError": "Nothing: another consumer gets the record again.",
    "InvalidRegistrationError": _NOT_FOR_CLIENTS,
    "InvalidRegularExpressionError": "Write the pattern in the syntax of RE2.",
    "InvalidReplicationAssignmentError": "Name each broker once, and as many for each partition.",
    "InvalidReplicationFactorError": "Give at most the number of brokers.",
    "InvalidRequestError": _OWN_BUG,
    "InvalidRequiredAcksError": 'Set `acks` to 0, 1 or "all".',
    "InvalidSessionTimeoutError": "Stay between the broker's `group.min.session.timeout.ms` and "
    "`group.max.session.timeout.ms`.",
    "InvalidTimestampError": "Set the clock right, or raise the topic's "
    "`message.timestamp.before.max.ms` or `message.timestamp.after.max.ms`.",
    "InvalidTopicError": "Use 1 to 249 of `a-z A-Z 0-9 . _ -`.",
    "InvalidTransactionTimeout": "Lower `transaction_timeout_ms`.",
    "InvalidTxnState": "Abort the transaction, or start a new producer. If it comes again, "
    "please report it.",
    "InvalidUpdateVersionError": "Choose a level that `aiokafka-lite cluster features` shows.",
    "InvalidVoterKeyError": "Look at `aiokafka-lite cluster quorum`.",
    "KafkaConfigurationError": "Change the options that its text names.",
    "KafkaConnectionError": "Check addresses, firewalls and `advertised.listeners`; see "
    "[Troubleshooting](guides/troubleshooting.md).",
    "KafkaError": "Catch it for all errors about Kafka. Its text and cause say more.",
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
    "NewLeaderElectedError": _NOT_FOR_CLIENTS,
    "NoBrokersAvailable": "Check that the brokers run.",
    "NoError": "Nothing: nobody raises it.",
    "NoOffsetForPartitionError": 'Set `auto_offset_reset` to "earliest" or "latest", or seek.',
    "NoReassignmentInProgressError": "Nothing: there is nothing to cancel.",
    "NoTransactionError": "Call `begin_transaction()` first.",
    "NodeNotReadyError": "Call again.",
    "NonEmptyGroup": "Stop its members, or `aiokafka-lite groups remove-member`.",
    "NotEnoughReplicasAfterAppendError": "Bring the other replicas back.",
    "NotEnoughReplicasError": "Bring the other replicas back.",
    "OffsetMetadataTooLargeError": "Shorten the metadata of the commit.",
    "OffsetMovedToTieredStorageError": "Seek, or set `auto_offset_reset`.",
    "OffsetOutOfRangeError": "Seek, or set `auto_offset_reset`: the records were deleted.",
    "OperationNotAttempted": "Mend the part of the call that failed, then ask again for this one.",
    "OutOfOrderSequenceNumber": _NEW_ID,
    "PartitionRevokedError": "Commit in `on_partitions_revoked`; the new owner reads on.",
    "PolicyViolationError": "Ask for what the broker's policy allows; its text says more.",
    "PositionOutOfRangeError": _NOT_FOR_CLIENTS,
    "PrincipalDeserializationFailureError": _NOT_FOR_CLIENTS,
    "ProducerClosed": "Start the producer, or make a new one.",
    "ProducerFenced": "Give each running producer a `transactional_id` of its own. Close this one.",
    "ProtocolDecodeError": "Check that the peer is a Kafka broker.",
    "QuotaViolationError": "Send less, or raise the quota.",
    "ReassignmentInProgress": "Wait: `aiokafka-lite reassignments watch`.",
    "RebalanceInProgressError": _REJOIN,
    "RebootstrapRequiredError": _AGAIN,
    "RecordDeserializationError": "Seek past the offset that it names, or mend the deserializer.",
    "RecordListTooLargeError": "Lower `max_batch_size`, or send fewer records at once.",
    "RecordTooLargeError": "Send smaller records, or raise the limit that its text names.",
    "RequestTimedOutError": "Look at the load of the broker.",
    "ResourceNotFoundError": "Check the name.",
    "SaslAuthenticationFailed": _CREDENTIALS,
    "SecurityDisabled": "Set an authorizer at the brokers.",
    "SerializationError": "Give bytes, or a serializer for the type that its text names.",
    "SnapshotNotFoundError": _NOT_FOR_CLIENTS,
    "StaleBrokerEpochError": _NOT_FOR_CLIENTS,
    "StaleControllerEpochError": _NOT_FOR_CLIENTS,
    "StaleMemberEpochError": "Nothing: the member gets the new epoch and commits again.",
    "StaleMetadata": "Nothing: the client asks anew.",
    "StreamsInvalidTopologyEpochError": "Nothing for these clients: it is about Kafka Streams.",
    "StreamsInvalidTopologyError": "Nothing for these clients: it is about Kafka Streams.",
    "StreamsTopologyDescriptionUpdateFailedError": "Nothing for these clients: it is about Kafka "
    "Streams.",
    "StreamsTopologyFencedError": "Nothing for these clients: it is about Kafka Streams.",
    "TelemetryTooLargeError": _AGAIN,
    "ThrottlingQuotaExceededError": "Call again later, or raise the quota.",
    "TlsAuthenticationError": "Follow its text, and see [Security](security.md).",
    "TopicAlreadyExistsError": "Use it, or choose another name.",
    "TopicAuthorizationFailedError": _GRANT,
    "TopicDeletionDisabledError": "Set `delete.topic.enable` at the brokers.",
    "TransactionAbortableError": "Abort the transaction, and do its work again.",
    "TransactionCoordinatorFenced": "Nothing: the producer asks the new coordinator.",
    "TransactionalIdAuthorizationFailed": _GRANT,
    "TransactionalIdNotFoundError": "Check the name with `aiokafka-lite transactions list`.",
    "UnacceptableCredentialError": "Choose iterations and a password that the broker takes.",
    "UnknownControllerIdError": _NOT_FOR_CLIENTS,
    "UnknownError": "Look at the log of the broker.",
    "UnknownMemberIdError": _REJOIN,
    "UnknownProducerId": _NEW_ID,
    "UnknownSubscriptionIdError": _AGAIN,
    "UnknownTopicOrPartitionError": "Check the name, and create the topic.",
    "UnrecognizedBrokerVersion": "Check that the peer is a Kafka broker.",
    "UnreleasedInstanceIdError": "Wait for the session timeout, or remove the old member.",
    "UnstableOffsetCommitError": "Nothing: the client waits for the end of the transaction.",
    "UnsupportedAssignorError": "Choose an assignor that the broker's `group.consumer.assignors` "
    "lists.",
    "UnsupportedCodecError": "Install the library that its text names.",
    "UnsupportedCompressionTypeError": "Choose another `compression_type`.",
    "UnsupportedEndpointTypeError": "Use the address of a broker.",
    "UnsupportedForMessageFormatError": "Upgrade the topic's message format.",
    "UnsupportedSaslMechanismError": "Choose a mechanism that its text lists.",
    "UnsupportedVersionError": "Upgrade the brokers, or leave the feature out.",
    "VoterNotFoundError": "Look at `aiokafka-lite cluster quorum`.",
}
"""Class -> what to do. "Nothing" means that the client goes on by itself."""


def remedy_of(kind: Any) -> str:
    """Return what to do about an error of a class. Raises: KeyError without a sentence for it."""
    if kind.retriable and kind.__name__ not in REMEDIES:
        return "Nothing: the client retries. If it lasts, look at the brokers."
    return REMEDIES[kind.__name__]


__all__ = ["REMEDIES", "remedy_of"]
