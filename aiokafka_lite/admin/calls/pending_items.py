"""Which items of an admin call still have no outcome, and when an error is the outcome.

Does not wait: `admin_requests` asks the nodes.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final, Generic, TypeVar

from aiokafka_lite.admin.calls.missing_rights import with_right
from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    ThrottlingQuotaExceededError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.kafka_error import reason_of

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

SETTLING_S: Final = 1.0
"""How long a topic may be unknown to a broker before this is the outcome.

A broker learns of a new topic some hundred milliseconds after another.
"""
_SETTLING: Final = (UnknownTopicOrPartitionError, UnknownTopicIdError)


class PendingItems(Generic[K, V]):
    """The items of the call `what`, in the order of the question.

    `what` decides about rights. Errors about time name `outer`, whose step the call is; empty: the
    call itself.
    """

    def __init__(
        self,
        what: str,
        keys: Iterable[K],
        began_s: float,
        settling_s: float = SETTLING_S,
        final_errors: tuple[type[KafkaError], ...] = (),
        outer: str = "",
        passing_errors: tuple[type[KafkaError], ...] = (),
    ) -> None:
        self._what = what
        self._outer = outer or what
        self._final_errors = final_errors
        self._passing_errors = passing_errors
        self._settled_s = began_s + settling_s
        self._last_errors: dict[K, KafkaError | None] = dict.fromkeys(keys)
        self._order = list(self._last_errors)
        self._done: dict[K, V | KafkaError] = {}
        self._is_answered = False

    @property
    def name(self) -> str:
        """The call in the words of errors about time."""
        return self._outer

    def present(self, unanswered: Mapping[K, int]) -> str:
        """Return what stands in the way now: the last failure, and the node of `unanswered`."""
        for key in self.pending:
            return self._why_open(key, unanswered).removeprefix("; ") or "nothing has come back"
        return "nothing is left to be asked"

    def _why_open(self, key: K, unanswered: Mapping[K, int]) -> str:
        last = self._last_errors[key]
        because = f"; last failure: {reason_of(last)}" if last is not None else ""
        if key in unanswered:
            because += f"; node {unanswered[key]} has not answered"
        return because

    @property
    def pending(self) -> list[K]:
        """The items without an outcome."""
        return self.open(self._order)

    def open(self, keys: Iterable[K]) -> list[K]:
        """Which of these items have no outcome."""
        return [key for key in keys if key not in self._done]

    def note_answers(
        self, asked: Iterable[K], answers: Mapping[K, V | KafkaError], now_s: float
    ) -> None:
        """Take over what responses say of the items that were asked for.

        A retriable error leaves its item pending.
        """
        self._is_answered = True
        for key in asked:
            answer = answers.get(key, _MISSING)
            if answer is _MISSING:
                answer = KafkaProtocolError(f"the response has no result for {quoted(key)}")
                self._done[key] = answer
            elif isinstance(answer, KafkaError):
                self._note_error(key, answer, now_s)
            else:
                self._done[key] = answer  # type: ignore[assignment]  # no error, so a value

    def note_failure(
        self, keys: Iterable[K], error: KafkaError, now_s: float, *, is_final: bool = False
    ) -> None:
        """Take over the failure of a whole request. The items stay pending if the error is
        retriable and not `is_final`."""
        for key in keys:
            if is_final:
                self._done[key] = with_right(self._what, error)
            else:
                self._note_error(key, error, now_s)

    def note_closed(self, keys: Iterable[K], now_s: float) -> None:
        """Give an error to items that a closed client can ask for no more."""
        self.note_failure(keys, closed_meanwhile(self._outer), now_s, is_final=True)

    def _note_error(self, key: K, error: KafkaError, now_s: float) -> None:
        is_settled = isinstance(error, _SETTLING) and now_s >= self._settled_s
        passes = error.retriable and not is_settled and not isinstance(error, self._final_errors)
        if passes or isinstance(error, self._passing_errors):
            self._last_errors[key] = error
            return
        error = with_right(self._what, error)
        self._done[key] = error
        if (before := self._last_errors[key]) is not None:
            error.add_note(
                "An earlier request of this call failed, but may have been carried out"
                f" nevertheless: {reason_of(before)}"
            )

    def time_out(self, timeout_s: float, unanswered: Mapping[K, int]) -> None:
        """Give a KafkaTimeoutError to each item that is pending. It names the last failure, and the
        node in `unanswered`. An item that a quota has held back to the end has the quota's error
        (KIP-599)."""
        for key in self.pending:
            last = self._last_errors[key]
            text = (
                f"{self._outer}: no result within {timeout_s:g} s{self._why_open(key, unanswered)}"
            )
            error: KafkaError
            if isinstance(last, ThrottlingQuotaExceededError):
                error = type(last)(f"{text}; ask for less at a time, or raise the quota")
            else:
                error = KafkaTimeoutError(
                    f"{text}; check the connection to the brokers, or raise timeout_ms"
                )
            error.__cause__ = last
            self._done[key] = error

    def outcomes(self) -> Outcomes[K, V]:
        """Return the outcomes, in the order of the question.

        Raises: the error of the first item, if no node said anything about any item.
        """
        found: Outcomes[K, V] = Outcomes((key, self._done[key]) for key in self._order)
        if not self._is_answered:
            found.raise_first()
        return found


def closed_meanwhile(what: str) -> KafkaConnectionError:
    """Return the error of the call `what` of a client that was closed while it waited."""
    return KafkaConnectionError(f"{what}: the client was closed meanwhile")


_MISSING: Final = object()

__all__ = ["SETTLING_S", "PendingItems", "closed_meanwhile"]
