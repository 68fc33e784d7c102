"""Runs the calls of a transactional producer in the background: a caller that gives up leaves no
transaction half ended. The same call, made again, takes over the result.

`TransactionManager` has the work of the calls. Source: 2d'-1.
"""

from collections.abc import Awaitable, Callable

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionError

Work = Callable[[], Awaitable[None]]


class _Call:
    """A call and its result."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.task: OwnedTask | None = None
        self.error: Exception | None = KafkaError(f"the producer was closed during {name}")
        """The error to raise. The first value is that of a task that never ran."""
        self.is_told = False
        """A caller has got the result."""


class TransactionCalls:
    """One call at a time that begins or ends transactions, and other calls beside it."""

    def __init__(
        self,
        client: KafkaClient,
        *,
        on_refusal: Callable[[TransactionError], KafkaError],
        why_not: Callable[[], str],
    ) -> None:
        """`on_refusal` acts on an error of the coordinator and returns the error for the user.
        `why_not` returns what keeps a call from ending, for the end of an error's text; or "".
        """
        self._client = client
        self._why_not = why_not
        self._on_refusal = on_refusal
        self._current: _Call | None = None
        self._beside: list[_Call] = []

    @property
    def current_name(self) -> str | None:
        """The name of the call whose result no caller has got yet, or None."""
        return None if self._current is None else self._current.name

    def is_current(self, name: str) -> bool:
        """Return whether a call of `name` takes over a call made before."""
        return self._current is not None and self._current.name == name

    def check_no_other(self, name: str) -> None:
        """Raise IllegalStateError while no caller has got the result of another call."""
        if self._current is not None and self._current.name != name:
            raise IllegalStateError(
                f"{self._current.name} has not ended: call it again to wait for its end, before "
                f"{name}"
            )

    async def run(self, name: str, work: Work, timeout_s: float) -> None:
        """Do `work`, or take over the call of that name; wait for it for `timeout_s` at most.

        Raises: KafkaTimeoutError, the work goes on; as `check_no_other`; the error of the work.
        Cancelled: the work goes on.
        """
        self.check_no_other(name)
        if self._current is None:
            self._current = self._start(name, work)
        await self.wait(timeout_s)

    async def wait(self, timeout_s: float) -> None:
        """Wait for the present call to end, if there is one.

        Raises: as `run`. Cancelled: as `run`.
        """
        call = self._current
        if call is None:
            return
        try:
            await self._result(call, timeout_s, "call it again to wait for its end")
        finally:
            if self._current is call and call.is_told:
                self._current = None

    def end(self, error: KafkaError) -> None:
        """End the present call, if its work goes on, with `error`. Does not wait."""
        call = self._current
        if call is not None and call.task is not None and not call.task.done:
            call.error = error
            call.task.cancel()

    async def run_beside(self, name: str, work: Work, timeout_s: float) -> None:
        """Do `work` beside any other call. Its result need not be taken over.

        Raises: KafkaTimeoutError, the work goes on; the error of the work.
        Cancelled: the work goes on.
        """
        call = self._start(name, work)
        self._beside = [other for other in self._beside if not _is_done(other)]
        self._beside.append(call)
        await self._result(call, timeout_s, "commit_transaction() waits for its end")

    async def none_beside(self) -> None:
        """Return when no call of `run_beside` is left."""
        for call in self._beside:
            if call.task is not None:
                await call.task.wait()
        self._beside.clear()

    def _start(self, name: str, work: Work) -> _Call:
        call = _Call(name)
        call.task = self._client.owner.spawn(name, self._keep_result, call, work)
        return call

    async def _result(self, call: _Call, timeout_s: float, remedy: str) -> None:
        assert call.task is not None
        try:
            async with deadline(self._client.clock, timeout_s):
                await call.task.wait()
        except TimeoutError as error:
            raise KafkaTimeoutError(
                f"{call.name} did not end within {timeout_s:g} s; it goes on: {remedy}, or raise "
                f"max_block_ms{self._why_not()}"
            ) from error
        call.is_told = True
        if call.error is not None:
            raise call.error.with_traceback(None)

    async def _keep_result(self, call: _Call, work: Work) -> None:
        try:
            await work()
        except TransactionError as refusal:
            call.error = self._on_refusal(refusal)
        except KafkaError as error:
            call.error = error
        else:
            call.error = None


def _is_done(call: _Call) -> bool:
    return call.task is not None and call.task.done


__all__ = ["TransactionCalls"]
