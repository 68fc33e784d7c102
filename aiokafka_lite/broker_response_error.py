"""The base of the errors that stand for an error code of a broker's response.

Each class states its code, Kafka's name of the code, the facts of `ErrorFacts` and the meaning. A
class has aiokafka's name if aiokafka knows the code. Otherwise its name is made from Kafka's name.
`retriable` and `invalid_metadata` follow the Java client. A code that a newer broker adds becomes
`UnknownError`. `broker_errors` has all of these classes. Does not wait.
"""

from typing import ClassVar

from aiokafka_lite.kafka_error import Fault, KafkaError

defined_errors: dict[int, type["BrokerResponseError"]] = {}
"""Error code -> class, for the classes that were imported so far."""


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
        if code in defined_errors:
            raise TypeError(f"error code {code} belongs to {defined_errors[code].__name__} already")
        cls.errno = code
        cls.message = name
        cls.description = " ".join((cls.__doc__ or "").split())  # python -OO removes only these
        cls.fault = fault or cls.fault
        cls.retriable = retriable
        cls.invalid_metadata = invalid_metadata
        cls.fatal = fatal
        defined_errors[code] = cls

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


__all__ = ["BrokerResponseError", "defined_errors"]
