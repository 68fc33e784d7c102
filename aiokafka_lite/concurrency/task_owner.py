"""Owns every background task: one root task per client, which ends the tasks of its children.

Only this file creates tasks that outlive a call. Different tasks may start an owner, spawn its
children and close it. A cancelled scope of anyio around one of these callers reaches no child.

A child is cancelled once, as asyncio does it, so that an `await` in its clean-up works. A child
that survives two cancellations is cancelled in every turn of the loop, so that each of its awaits
is interrupted. A cancelled scope of anyio does the same. Tasks are asyncio's own, because importing
anyio's backend would cost more CPU than all requests of a client's start.

Children end in reverse order of their start, and the owner awaits each before it cancels the next.
A later child may depend on an earlier one, as a fetch loop depends on connections. So it may still
use the earlier one while it ends. A client that needs another order cancels and awaits those
children first.

The first child that fails wins. The owner keeps its error and calls the failure callbacks; then the
root ends the other children. `check()` raises the error in the application's next call. The root
may be cancelled from outside: by a shutdown handler that cancels all tasks, or at the end of
`asyncio.run`. That is a failure, too: calls that wait for the children must learn that no result
will come. Children refer to what they need, but never to the client's facade. So the facade's
`__del__` can notice a client that was dropped without being closed.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from enum import Enum
from functools import partial
from typing import Any, TypeVarTuple

from aiokafka_lite.checks.quoted import quoted, said
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.concurrency.client_loop import ClientLoop
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.kafka_error import KafkaError

_log = logging.getLogger(__name__)
_Args = TypeVarTuple("_Args")

# The event loop itself keeps only weak references to tasks.
_running_roots: set["asyncio.Task[None]"] = set()


class OwnerState(Enum):
    """The states of a `TaskOwner`, in their only possible order."""

    NEW = "new"
    """Not started, without a task."""
    RUNNING = "running"
    """Children may be spawned."""
    CLOSING = "closing"
    """The children are ending, because of close() or because one of them failed."""
    CLOSED = "closed"
    """All children have ended."""


_RUNNING = OwnerState.RUNNING  # on 3.11 it costs a call to find it in its class


class OwnedTask:
    """A running child of a `TaskOwner`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.error: BaseException | None = None
        """The error that ended the child. None if it returned or its owner cancelled it."""
        self._task: asyncio.Task[Any] | None = None
        self._body: Coroutine[Any, Any, None] | None = None
        self._cancel_requested = False
        self._done = asyncio.Event()
        self._done_callbacks: list[Callable[[OwnedTask], object]] = []

    @property
    def done(self) -> bool:
        """Whether the child has ended, by any cause."""
        return self._done.is_set() or self._never_ran

    @property
    def _never_ran(self) -> bool:
        # A task that is cancelled from outside before its first step ends without running any of
        # its code.
        body = self._body
        return body is not None and inspect.getcoroutinestate(body) == inspect.CORO_CLOSED

    def cancel(self) -> None:
        """Ask the child to end. Does not wait. Harmless after the child has ended."""
        self._cancel_requested = True
        if self._task is not None and not self.done:
            self._task.cancel()

    async def wait(self) -> None:
        """Return when the child has ended, by any cause; its error is in `error`.

        Cancelled: the child goes on.
        """
        if not self.done:
            await self._done.wait()

    def add_done_callback(self, callback: Callable[["OwnedTask"], object]) -> None:
        """Call `callback(child)` when the child has ended; call it at once if it already has.

        The callback also runs where the child's own `finally` cannot: for a child cancelled before
        its first step. The callback must not raise.
        """
        if self._done.is_set():
            callback(self)
        else:
            self._done_callbacks.append(callback)

    def _never_run(self) -> None:
        """Keep a child that has not begun from running, without a warning of Python."""
        if self._body is not None and inspect.getcoroutinestate(self._body) == inspect.CORO_CREATED:
            self._body.close()

    def _finish(self) -> None:
        self._done.set()
        callbacks, self._done_callbacks = self._done_callbacks, []
        for callback in callbacks:
            callback(self)

    def __repr__(self) -> str:
        state = "running" if not self.done else f"failed: {self.error!r}" if self.error else "done"
        return f"<OwnedTask {self.name} {state}>"


class TaskOwner:
    """Starts, names, supervises and ends the background tasks of one client.

    The owner is built without a loop, and belongs to the loop in which start() runs.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Clock = SYSTEM_CLOCK,
        child_close_timeout_s: float = 5.0,
        loop: ClientLoop | None = None,
    ) -> None:
        """`loop` learns the loop in which start() runs.

        An owner that follows another shares its `loop`.
        """
        self.name = name
        self.loop = loop if loop is not None else ClientLoop(name)
        """The loop in which start() ran. All children belong to it."""
        self.failure: BaseException | None = None
        """The error of the first child that failed."""
        self._failed_child = ""
        self._failure_text = ""
        self._failure_seen = False
        self._clock = clock
        self._child_close_timeout_s = child_close_timeout_s
        self._state = OwnerState.NEW
        self._children: dict[OwnedTask, None] = {}  # in the order of their start
        self._failure_callbacks: list[Callable[[BaseException], object]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        """The tasks of the children, also of those that will never run."""
        self._root: asyncio.Task[None] | None = None
        self._opened = asyncio.Event()
        self._closing = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def state(self) -> OwnerState:
        return self._state

    @property
    def children(self) -> tuple[OwnedTask, ...]:
        """The running children, in the order of their start."""
        return (*self._children,)

    def __repr__(self) -> str:
        names = ", ".join(child.name for child in list(self._children))
        return f"<TaskOwner {self.name} {self._state.value} [{names}]>"

    # Starting…

    async def start(self) -> None:
        """Start the root task.

        Raises: IllegalStateError when called twice or after close(). Cancelled: the root task may
        be running; close() ends it.
        """
        if self._state is not OwnerState.NEW:
            raise IllegalStateError(f"cannot start {self.name} while it is {self._state.value}")
        self._state = OwnerState.RUNNING
        self._root = root = self.loop.enter().create_task(self._run(), name=self.name)
        _running_roots.add(root)
        root.add_done_callback(self._root_done)
        await self._opened.wait()

    def spawn(
        self,
        name: str,
        coro_fn: Callable[[*_Args], Coroutine[Any, Any, object]],
        *args: *_Args,
    ) -> OwnedTask:
        """Run `coro_fn(*args)` as a child. Any task of the loop may call this.

        The child ends by returning or by being cancelled. Any other end is a failure of the owner.

        Raises: KafkaError when a child has failed before; IllegalStateError when the owner is not
        running, or from another event loop.
        """
        self.loop.check()
        self.check()
        if self._state is not _RUNNING or not self._opened.is_set():
            raise IllegalStateError(
                f"cannot start {quoted(name)}: {self.name} is {self._state.value}, not running"
            )
        child = OwnedTask(name)
        self._children[child] = None
        child._body = body = self._supervise(child, coro_fn, args)
        task = asyncio.create_task(body, name=f"{self.name}: {name}")
        self._tasks.add(task)
        task.add_done_callback(partial(self._task_done, child))
        return child

    # Failing…

    def add_failure_callback(self, callback: Callable[[BaseException], object]) -> None:
        """Call `callback(error)` at the first failure, in the failing task.

        After a failure, call it at once. The owner keeps the callback alive, with everything it
        refers to.
        """
        self._failure_callbacks.append(callback)
        if self.failure is not None:
            self._call(callback, self.failure)

    def fail(self, text: str) -> None:
        """Fail for a reason outside of the children, which `text` tells; `check()` raises it.

        Does nothing unless it runs, or after an earlier failure. Does not wait.
        """
        if self._state is OwnerState.RUNNING and self.failure is None:
            self._failure_seen = True  # the caller knows, and needs no log line
            self._keep_failure(KafkaError(text), text)

    def check(self) -> None:
        """Raise KafkaError, chained to the first failure of a child, if one has failed. Cheap."""
        if self.failure is not None:
            self._failure_seen = True
            raise KafkaError(self._failure_text) from self.failure

    def _fail(self, child: OwnedTask, error: BaseException) -> None:
        child.error = error
        if self.failure is not None or self._state is OwnerState.CLOSED:
            _log.warning("%s: %r failed too", self.name, child.name, exc_info=error)
            return
        self._failed_child = child.name
        self._keep_failure(
            error, f"background task {quoted(child.name)} of {self.name} failed: {said(error)}"
        )

    def _keep_failure(self, error: BaseException, text: str) -> None:
        self.failure = error
        self._failure_text = text
        self._closing.set()
        for callback in self._failure_callbacks:
            self._call(callback, error)

    def _fail_if_cancelled_from_outside(self) -> None:
        """Record a failure if the root was cancelled from outside before it was to end."""
        if self._closing.is_set():
            return
        text = (
            f"all tasks of {self.name} were cancelled, by the end of asyncio.run() or by code "
            f"that cancels asyncio.all_tasks(); stop the client before, and create another one"
        )
        self._failure_seen = True  # the caller that cancelled the root needs no log line
        self._keep_failure(KafkaError(text), text)

    @property
    def _root_is_cancelled(self) -> bool:
        return self._root is None or self._root.cancelling() > 0

    def _call(self, callback: Callable[[BaseException], object], error: BaseException) -> None:
        try:
            callback(error)
        except Exception:  # noqa: BLE001  the failure itself must reach the others
            _log.exception("%s: a failure callback failed", self.name)

    # Closing…

    def close_soon(self) -> None:
        """Begin to close.

        Does not wait. For `__del__`: callable from any thread, with or without a loop.
        """
        loop = self.loop.loop
        if loop is None:
            self._state = OwnerState.CLOSED
        elif not loop.is_closed():
            loop.call_soon_threadsafe(self._closing.set)

    async def close(self) -> None:
        """End all children in reverse order of their start, and return when all have ended.

        Idempotent. A failure that no check() has raised is logged. A child that closes its own
        owner is cancelled like the others. Returns at once when the loop has ended.

        Cancelled: closing goes on; a later close() waits for its end.
        """
        if self._state is OwnerState.NEW or self.loop.has_ended:
            self._state = OwnerState.CLOSED
            return
        if self._state is OwnerState.CLOSED:
            return
        self._closing.set()
        await self._closed.wait()

    async def _run(self) -> None:
        self._opened.set()
        try:
            await self._closing.wait()
        except asyncio.CancelledError:
            self._fail_if_cancelled_from_outside()
            raise
        finally:
            self._state = OwnerState.CLOSING
            try:
                await self._end_children()
            finally:
                await self._end_tasks()

    async def _end_children(self) -> None:
        for child in reversed(self.children):
            for patience in ("it is cancelled again", "its next await will be its last"):
                child.cancel()
                try:
                    async with deadline(self._clock, self._child_close_timeout_s):
                        await child.wait()
                    break
                except TimeoutError:
                    _log.warning(
                        "%s: %r has not ended %s s after it was cancelled; %s",
                        self.name,
                        child.name,
                        self._child_close_timeout_s,
                        patience,
                    )

    async def _end_tasks(self) -> None:
        """Return when no task is left: until then, each is cancelled in every turn of the loop.

        Cancelled: goes on, because nothing else would end the tasks; raises it at the end.
        """
        cancelled: asyncio.CancelledError | None = None
        while self._tasks:
            for child in self.children:
                if child._task is not None:  # its first step has begun
                    child._task.cancel()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def _task_done(self, child: OwnedTask, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # `_supervise` has kept it; asyncio must not log it as unseen
        elif child in self._children:  # cancelled from outside before its first step
            if not child._cancel_requested and not self._root_is_cancelled:
                self._fail(child, asyncio.CancelledError())
            del self._children[child]
            child._finish()

    def _root_done(self, root: "asyncio.Task[None]") -> None:
        _running_roots.discard(root)
        self._fail_if_cancelled_from_outside()  # also before the root's first step
        self._state = OwnerState.CLOSED
        for child in self.children:
            child._never_run()
            child._finish()
        self._children.clear()
        self._closed.set()
        error = None if root.cancelled() else root.exception()
        if error is not None:
            _log.error("%s: the root task failed", self.name, exc_info=error)
        if self.failure is not None and not self._failure_seen:
            _log.error(
                "%s: %r failed and no call came that could say so",
                self.name,
                self._failed_child,
                exc_info=self.failure,
            )

    async def _supervise(
        self,
        child: OwnedTask,
        coro_fn: Callable[[*_Args], Coroutine[Any, Any, object]],
        args: tuple[*_Args],
    ) -> None:
        child._task = asyncio.current_task()
        try:
            if not child._cancel_requested:
                await coro_fn(*args)
        except asyncio.CancelledError as error:
            if child._cancel_requested:
                pass
            elif self._root_is_cancelled:
                self._fail_if_cancelled_from_outside()
            else:
                self._fail(child, error)
        except Exception as error:  # noqa: BLE001  whatever it is, check() raises it
            self._fail(child, error)
        except BaseException as error:
            self._fail(child, error)
            raise
        finally:
            self._children.pop(child, None)
            child._finish()


__all__ = ["OwnedTask", "OwnerState", "TaskOwner"]
