"""What aiokafka's calls return: the fields of a response under aiokafka's names. Does not wait."""

from dataclasses import dataclass, fields
from typing import Any

from aiokafka_lite.errors import BrokerResponseError, KafkaError

NO_CODE = -1
"""The error_code of a failure that no node told, as Kafka's UNKNOWN_SERVER_ERROR."""


@dataclass(frozen=True)
class RawAnswer:
    """A response, with rows that are named tuples: by name, by number, and taken apart."""

    throttle_time_ms: int

    def to_object(self) -> dict[str, Any]:
        """Return aiokafka's part of the answer as dicts and lists, as its responses do."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: _plain(value) for name, value in values.items() if not isinstance(value, dict)
        }


def code_and_text(outcome: object) -> tuple[int, str | None]:
    """Return error_code and error_message of an outcome; (0, None) without an error."""
    if isinstance(outcome, BrokerResponseError):
        return outcome.errno, str(outcome.args[0]) if outcome.args else outcome.description
    if isinstance(outcome, KafkaError):
        return NO_CODE, str(outcome)
    return 0, None


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


__all__ = ["NO_CODE", "RawAnswer", "code_and_text"]
