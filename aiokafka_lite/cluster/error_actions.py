"""The one form of a table that tells what each error of a request calls for.

The group protocol and transactions have tables of this form. A table decides nothing but the
action; the caller of the request carries it out. Does not wait.
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from aiokafka_lite.errors import BrokerResponseError, for_code

A = TypeVar("A")


class ErrorActions(Generic[A]):
    """Error -> action, for one request.

    `listed` has the errors with an action of their own. Every other error gets `retriable` if it
    is retriable, otherwise `others`.
    """

    __slots__ = ("_others", "_retriable", "listed")

    def __init__(
        self, listed: Mapping[type[BrokerResponseError], A], *, retriable: A, others: A
    ) -> None:
        self.listed = {error.errno: action for error, action in listed.items()}
        """Error code -> its own action."""
        self._retriable = retriable
        self._others = others

    def action_for(self, error_code: int) -> tuple[A, type[BrokerResponseError]]:
        """Return what to do about an error code, and the class of the error."""
        error = for_code(error_code)
        action = self.listed.get(error_code)
        if action is None:
            action = self._retriable if error.retriable else self._others
        return action, error

    def but_for(
        self, listed: Mapping[type[BrokerResponseError], A], *, others: A | None = None
    ) -> "ErrorActions[A]":
        """Return a table like this one, in which the errors of `listed` have these actions.

        `others`: the action of all that is neither listed nor retriable; None: as here.
        """
        if others is None:
            others = self._others
        table = ErrorActions(listed, retriable=self._retriable, others=others)
        table.listed = {**self.listed, **table.listed}
        return table


__all__ = ["ErrorActions"]
