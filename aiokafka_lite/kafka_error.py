"""The root of the error tree and the four questions every error class answers by itself.

Owns no concrete error: those a broker sends are in `broker_errors`, the client's in `errors`.
"""

from enum import StrEnum
from typing import ClassVar


class Fault(StrEnum):
    """Whose fault an error is: the first place to look for the remedy."""

    USER = "user"
    """The call, the configuration or the rights of the application; asking again gives the same."""
    CLUSTER = "cluster"
    """A broker or the cluster's state, often for a short time only."""
    NETWORK = "network"
    """The way between client and broker."""
    LIBRARY = "library"
    """This library, or a peer that does not speak the protocol as agreed."""


class ErrorFacts:
    """What an error class says about all its instances."""

    fault: ClassVar[Fault] = Fault.LIBRARY
    retriable: ClassVar[bool] = False
    """The same request may succeed later."""
    invalid_metadata: ClassVar[bool] = False
    """The client's picture of the cluster is out of date: refresh the metadata before a retry."""
    fatal: ClassVar[bool] = False
    """The producer or group member that got it cannot go on; a new one may."""


class KafkaError(RuntimeError, ErrorFacts):
    """Base of every error about Kafka, except two that aiokafka derives from Exception."""

    def __str__(self) -> str:
        name = type(self).__name__
        return f"{name}: {super().__str__()}" if self.args else name


def reason_of(error: BaseException) -> str:
    """Return what an error says without the name and number of its class, which `str` puts first:
    for texts that have another error's around it, and for people who did not see a traceback.
    """
    if not isinstance(error, KafkaError):
        return str(error) or type(error).__name__
    if error.args:
        return str(error.args[0])
    description: str = getattr(error, "description", "")
    return description.rstrip(".") or type(error).__name__


__all__ = ["ErrorFacts", "Fault", "KafkaError", "reason_of"]
