"""Every error a user can meet, importable from here.

This file defines the client's own classes; `broker_errors` has those of the error codes, which are
taken from there when they are asked for.

    Exception
    ├── ConsumerStoppedError               stop() was called before a record came
    ├── IllegalOperation                   not possible without a group_id, transactional_id, …
    └── KafkaError (RuntimeError)
        ├── BrokerResponseError            the broker answered with an error code: a class per code
        │   └── LogTruncationError             an OffsetOutOfRangeError: the log lost what was read
        ├── KafkaConfigurationError        also ValueError: all faults of the options in one error
        │   └── FeatureNotSupportedError   an option that is not possible in this event loop
        ├── KafkaConnectionError     R M   no connection, or it broke
        │   └── NameResolutionError  R M   no address for a host name
        ├── KafkaTimeoutError        R     also TimeoutError: a bound the caller set has passed
        │   ├── BufferExhaustedError R     no room in buffer_memory within max_block_ms
        │   └── DeliveryTimeoutError R     no acknowledgement within delivery_timeout_ms
        ├── KafkaProtocolError       R     the peer does not keep to the protocol
        │   ├── CorrelationIdError   R     responses out of order
        │   └── ProtocolDecodeError        hostile or truncated bytes
        │       └── FrameTooLargeError     a response above the size this side accepts
        ├── SerializationError             also TypeError: a key or value that cannot become bytes
        ├── RecordDeserializationError     bytes that cannot become a key or value; says which
        ├── RecordTooLargeError            a record larger than a fetch or request may be
        ├── NoOffsetForPartitionError      no position, and auto_offset_reset is "none"
        ├── CommitFailedError              the group has moved on without this member
        │   └── PartitionRevokedError      also IllegalStateError: names a partition it took away
        ├── HandlerFailedError             a handler of `KeyedWorkers` failed for good, or is stuck
        ├── IllegalStateError              the call does not fit the state of the client
        │   └── NoTransactionError             also IllegalOperation: outside of a transaction
        ├── IllegalArgumentError, UnsupportedCodecError, ProducerClosed
        ├── AuthenticationFailedError F    the broker does not accept the client, or the client it
        │   └── TlsAuthenticationError   F     the TLS handshake failed: certificates, versions
        ├── AuthenticationMethodNotSupported F
        ├── NoBrokersAvailable R M, StaleMetadata R M, NodeNotReadyError R, Cancelled R,
        │   TooManyInFlightRequests R, MetadataEmptyBrokerList R
        └── KafkaUnavailableError, UnrecognizedBrokerVersion, IncompatibleBrokerVersion,
            QuotaViolationError

R: retriable, the same call may succeed later. M: invalid_metadata, refresh the metadata first. F:
fatal for the producer or group member. `fault` says where to look first. All four are facts of the
class. But an error of a transaction says by its own `fatal` whether the producer has ended.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import aiokafka_lite.broker_errors as broker_errors  # noqa: PLR0402  pyright knows this form only
from aiokafka_lite.kafka_error import ErrorFacts, Fault, KafkaError
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.broker_errors import *  # noqa: F403  `__getattr__` finds them
else:

    def __getattr__(name: str) -> object:
        if name not in broker_errors.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(broker_errors, name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


class ConsumerStoppedError(Exception, ErrorFacts):
    """The consumer is stopped. A call that waits for records at that moment raises this, too."""

    fault: ClassVar[Fault] = Fault.USER


class IllegalOperation(Exception, ErrorFacts):
    """The client's configuration does not allow this call, such as a commit without group_id."""

    fault: ClassVar[Fault] = Fault.USER


# The application's side…


class IllegalStateError(KafkaError):
    """The call does not fit the state of the client, such as assign() after subscribe()."""

    fault: ClassVar[Fault] = Fault.USER


class NoTransactionError(IllegalStateError, IllegalOperation):
    """The call needs an open transaction; call begin_transaction() first."""


class IllegalArgumentError(KafkaError):
    """An argument, or a combination of arguments, makes no sense."""

    fault: ClassVar[Fault] = Fault.USER


class KafkaConfigurationError(KafkaError, ValueError):
    """The options cannot work; the text lists every fault at once.

    It is also a ValueError, which users already catch.
    """

    fault: ClassVar[Fault] = Fault.USER


class FeatureNotSupportedError(KafkaConfigurationError):
    """The option is not possible here, such as TLS in an event loop without sockets."""


class UnsupportedCodecError(KafkaError):
    """The compression codec is unknown or its library is missing."""

    fault: ClassVar[Fault] = Fault.USER


class SerializationError(KafkaError, TypeError):
    """A key, value or header could not be turned into bytes; nothing was sent."""

    fault: ClassVar[Fault] = Fault.USER


class LogTruncationError(broker_errors.OffsetOutOfRangeError):
    """The partition's log has lost records that were read before the position (KIP-320).

    Records that the consumer returned may be gone, or others may stand in their place. Raised
    without a reset policy. If `divergent_offset` is known, `seek()` to it goes on from the offset
    at which the logs differ.
    """

    fault: ClassVar[Fault] = Fault.CLUSTER

    def __init__(
        self,
        message: str,
        *,
        topic_partition: TopicPartition,
        fetch_offset: int,
        divergent_offset: int | None = None,
        divergent_leader_epoch: int | None = None,
    ) -> None:
        super().__init__(message)
        self.topic_partition = topic_partition
        self.fetch_offset = fetch_offset
        self.divergent_offset = divergent_offset
        self.divergent_leader_epoch = divergent_leader_epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args), self.__dict__


class RecordDeserializationError(KafkaError):
    """The key or value of a record could not be turned into an object; the position stays there.

    Seek to `offset + 1` to skip the record. The bytes are copies and stay valid.
    """

    fault: ClassVar[Fault] = Fault.USER

    def __init__(
        self,
        message: str,
        *,
        topic_partition: TopicPartition,
        offset: int,
        timestamp: int,
        key_bytes: bytes | None,
        value_bytes: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        super().__init__(message)
        self.topic_partition = topic_partition
        self.offset = offset
        self.timestamp = timestamp
        self.key_bytes = key_bytes
        self.value_bytes = value_bytes
        self.headers = tuple(headers)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders (Spark tasks, process pools). The inherited method would call
        # __init__ with the message alone.
        return _restore, (type(self), self.args), self.__dict__


class HandlerFailedError(KafkaError):
    """A handler of `KeyedWorkers` failed for good, or has not ended in time; one of `ShareWorkers`
    has not ended although it was cancelled.

    The record is not committed or accepted. The cause is the handler's error, or a TimeoutError.
    """

    fault: ClassVar[Fault] = Fault.USER

    def __init__(self, message: str, *, topic_partition: TopicPartition, offset: int) -> None:
        super().__init__(message)
        self.topic_partition = topic_partition
        self.offset = offset

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args), self.__dict__


def _restore(
    cls: type[RecordDeserializationError], args: tuple[object, ...]
) -> RecordDeserializationError:
    return cls.__new__(cls, *args)


class RecordTooLargeError(KafkaError):
    """A record is larger than a fetch or a request may be."""

    fault: ClassVar[Fault] = Fault.USER


class NoOffsetForPartitionError(KafkaError):
    """The partition has no position to read from and auto_offset_reset is "none"."""

    fault: ClassVar[Fault] = Fault.USER


class ProducerClosed(KafkaError):
    """The producer is stopped, or was never started."""

    fault: ClassVar[Fault] = Fault.USER


_COMMIT_FAILED = (
    "the group has moved on and this member no longer owns the partitions; commit again after the"
    " next poll, for what is assigned then. A group moves on when a member came, left or was"
    " removed, when no heartbeat came for session_timeout_ms, or no poll for max_poll_interval_ms;"
    " the log of this client says which"
)


class CommitFailedError(KafkaError):
    """The group has given this member's partitions to others; it cannot commit for them."""

    fault: ClassVar[Fault] = Fault.USER

    def __init__(self, *args: object) -> None:
        super().__init__(*(args or (_COMMIT_FAILED,)))


class PartitionRevokedError(CommitFailedError, IllegalStateError):
    """A commit names a partition that the group has taken away since its records were returned.

    Users of the Java client catch CommitFailedError here, users of aiokafka IllegalStateError.
    """


class AuthenticationFailedError(KafkaError):
    """The broker did not accept the client's credentials."""

    fault: ClassVar[Fault] = Fault.USER
    fatal: bool = True


class TlsAuthenticationError(AuthenticationFailedError):
    """Client and broker could not agree on TLS: a certificate, a version, or no TLS at all.

    The text names the address, what OpenSSL said, and the remedy. Java:
    SslAuthenticationException.
    """


class AuthenticationMethodNotSupported(KafkaError):
    """Broker and client have no authentication mechanism in common."""

    fault: ClassVar[Fault] = Fault.USER
    fatal: bool = True


# Time…


class KafkaTimeoutError(KafkaError, TimeoutError):
    """A bound set by the caller or the configuration has passed; the text names it.

    It is also the builtin TimeoutError, which users already catch.
    """

    fault: ClassVar[Fault] = Fault.CLUSTER
    retriable: ClassVar[bool] = True


class BufferExhaustedError(KafkaTimeoutError):
    """No room in buffer_memory came free within max_block_ms; the record was not queued."""


class DeliveryTimeoutError(KafkaTimeoutError):
    """A batch was not acknowledged within delivery_timeout_ms; it may have been written."""


# The connection to the broker…


class KafkaConnectionError(KafkaError):
    """A connection could not be made or broke; requests in flight may or may not have been done."""

    fault: ClassVar[Fault] = Fault.NETWORK
    retriable: ClassVar[bool] = True
    invalid_metadata: ClassVar[bool] = True


class NameResolutionError(KafkaConnectionError):
    """The host name of an address has no address, or nothing tells it: DNS may not be there yet."""


class NodeNotReadyError(KafkaError):
    """The node has no usable connection yet."""

    fault: ClassVar[Fault] = Fault.NETWORK
    retriable: ClassVar[bool] = True


class NoBrokersAvailable(KafkaError):
    """No broker of the cluster can be reached."""

    fault: ClassVar[Fault] = Fault.NETWORK
    retriable: ClassVar[bool] = True
    invalid_metadata: ClassVar[bool] = True


class KafkaUnavailableError(KafkaError):
    """The cluster does not answer."""

    fault: ClassVar[Fault] = Fault.NETWORK


class StaleMetadata(KafkaError):
    """The client's metadata does not answer the question; fresh metadata may."""

    fault: ClassVar[Fault] = Fault.CLUSTER
    retriable: ClassVar[bool] = True
    invalid_metadata: ClassVar[bool] = True


class MetadataEmptyBrokerList(KafkaError):
    """A broker's metadata names no broker, because the broker is starting up."""

    fault: ClassVar[Fault] = Fault.CLUSTER
    retriable: ClassVar[bool] = True


class TooManyInFlightRequests(KafkaError):
    """The connection already has as many unanswered requests as it may have."""

    retriable: ClassVar[bool] = True


class Cancelled(KafkaError):
    """The request was given up before its response came."""

    retriable: ClassVar[bool] = True


class QuotaViolationError(KafkaError):
    """The client is over its quota."""

    fault: ClassVar[Fault] = Fault.USER


# The protocol…


class KafkaProtocolError(KafkaError):
    """The peer does not keep to Kafka's protocol; another connection may succeed."""

    retriable: ClassVar[bool] = True


class CorrelationIdError(KafkaProtocolError):
    """A response does not belong to the oldest unanswered request."""


class ProtocolDecodeError(KafkaProtocolError):
    """The bytes are malformed, such as a length beyond the frame or a partial struct."""

    retriable: ClassVar[bool] = False


class FrameTooLargeError(ProtocolDecodeError):
    """The announced size of a frame is larger than this side accepts."""

    def __init__(self, message: str = "", *, size: int = 0, limit: int = 0) -> None:
        super().__init__(message)
        self.size = size
        """Announced size in bytes."""
        self.limit = limit
        """Largest accepted size in bytes."""


class UnrecognizedBrokerVersion(KafkaError):
    """The client cannot determine the broker's version."""

    fault: ClassVar[Fault] = Fault.CLUSTER


class IncompatibleBrokerVersion(KafkaError):
    """The broker is too old, or too new, for the request."""

    fault: ClassVar[Fault] = Fault.CLUSTER


__all__ = [
    "AuthenticationFailedError",
    "AuthenticationMethodNotSupported",
    "BufferExhaustedError",
    "Cancelled",
    "CommitFailedError",
    "ConsumerStoppedError",
    "CorrelationIdError",
    "DeliveryTimeoutError",
    "Fault",
    "FeatureNotSupportedError",
    "FrameTooLargeError",
    "HandlerFailedError",
    "IllegalArgumentError",
    "IllegalOperation",
    "IllegalStateError",
    "IncompatibleBrokerVersion",
    "KafkaConfigurationError",
    "KafkaConnectionError",
    "KafkaError",
    "KafkaProtocolError",
    "KafkaTimeoutError",
    "KafkaUnavailableError",
    "LogTruncationError",
    "MetadataEmptyBrokerList",
    "NameResolutionError",
    "NoBrokersAvailable",
    "NoOffsetForPartitionError",
    "NoTransactionError",
    "NodeNotReadyError",
    "PartitionRevokedError",
    "ProducerClosed",
    "ProtocolDecodeError",
    "QuotaViolationError",
    "RecordDeserializationError",
    "RecordTooLargeError",
    "SerializationError",
    "StaleMetadata",
    "TlsAuthenticationError",
    "TooManyInFlightRequests",
    "UnrecognizedBrokerVersion",
    "UnsupportedCodecError",
]
__all__ += broker_errors.__all__
