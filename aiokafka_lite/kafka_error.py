"""The root of the error tree, and the four facts that every error class states about itself.

Defines no concrete error: `broker_errors` has those of the error codes, `errors` the client's own.
"""

from enum import StrEnum
from typing import ClassVar


class Fault(StrEnum):
    """The party at fault: the first place to look for the remedy."""

    USER = "user"
    """The call, the configuration or the rights of the application; the same call fails again."""
    CLUSTER = "cluster"
    """A broker or the cluster's state, often for a short time only."""
    NETWORK = "network"
    """The network between client and broker."""
    LIBRARY = "library"
    """This library, or a peer that breaks the protocol."""


class ErrorFacts:
    """The facts that hold for all instances of an error class, but for `fatal`."""

    fault: ClassVar[Fault] = Fault.LIBRARY
    retriable: ClassVar[bool] = False
    """The same request may succeed later."""
    invalid_metadata: ClassVar[bool] = False
    """The client's metadata of the cluster is out of date: refresh it before a retry."""
    fatal: bool = False
    """The producer or group member that received the error cannot go on; a new one may.

    An error that a transactional producer has raised says whether it has ended that producer. The
    same code may do so in the answer to one request, and not in that to another.
    """


class KafkaError(RuntimeError, ErrorFacts):
    """Base of every error about Kafka, except two that aiokafka derives from Exception."""

    def __str__(self) -> str:
        name = type(self).__name__
        return f"{name}: {super().__str__()}" if self.args else name


def reason_of(error: BaseException) -> str:
    """Return the text of an error without the class name and error code that `str` puts first.

    Use it to quote an error inside another text, and for readers without a traceback.
    """
    if not isinstance(error, KafkaError):
        return str(error) or type(error).__name__
    if error.args:
        return str(error.args[0])
    description: str = getattr(error, "description", "")
    return description.rstrip(".") or type(error).__name__


__all__ = ["ErrorFacts", "Fault", "KafkaError", "reason_of"]
