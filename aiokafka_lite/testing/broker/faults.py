"""Injects faults: errors, cut or delayed responses, silence, flipped bytes.

A fault is armed for an API, optionally for one node or one partition. It lasts for a number of
requests, with `times=None` until `clear()`. Each request uses up the oldest matching fault of each
kind. This file decides; the router waits and the connection cuts.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from aiokafka_lite.errors import for_code
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.fault_names import Api, Error, api_key_of, error_code_of


@dataclass(eq=False, slots=True)
class _Fault:
    """An armed fault; `remaining` is None for an unlimited one."""

    api_key: int
    remaining: int | None
    node_id: int | None

    def fits(self, api_key: int, node_id: int) -> bool:
        return self.api_key == api_key and self.node_id in (None, node_id) and self.remaining != 0

    def use(self) -> None:
        if self.remaining is not None:
            self.remaining -= 1


@dataclass(eq=False, slots=True)
class _InjectedFailure(_Fault):
    code: int
    topic_partition: TopicPartition | None


@dataclass(eq=False, slots=True)
class _Corruption(_Fault):
    topic_partition: TopicPartition


@dataclass(eq=False, slots=True)
class _Cut(_Fault):
    after_bytes: int


@dataclass(eq=False, slots=True)
class _Silence(_Fault):
    pass


@dataclass(eq=False, slots=True)
class _Delay(_Fault):
    seconds: float


@dataclass(eq=False, slots=True)
class _Throttle(_Fault):
    throttle_time_ms: int


@dataclass(eq=False, slots=True)
class _Stall(_Fault):
    released: asyncio.Event = field(default_factory=asyncio.Event)


class InjectedErrors:
    """The failures and corruptions for one request. A fault counts once for the whole request."""

    __slots__ = ("_faults", "_used")

    def __init__(self, faults: list[_InjectedFailure | _Corruption]) -> None:
        self._faults = faults
        self._used: set[_Fault] = set()

    def raise_for(
        self,
        topic_partition: TopicPartition | None = None,
        among: Collection[int] | None = None,
        besides: Collection[int] = (),
    ) -> None:
        """Raise the error armed for this partition (None: for the whole response), if any.

        `among` ignores faults with other codes, which apply to another part of the response, and
        `besides` those with these.
        """
        for fault in self._faults:
            if (
                isinstance(fault, _InjectedFailure)
                and fault.topic_partition in (None, topic_partition)
                and (among is None or fault.code in among)
                and fault.code not in besides
                and self._take(fault)
            ):
                raise for_code(fault.code)("injected by faults.fail")

    def corrupts(self, topic_partition: TopicPartition) -> bool:
        """Return whether the records of this partition are to be damaged in the response."""
        return any(
            isinstance(fault, _Corruption)
            and fault.topic_partition == topic_partition
            and self._take(fault)
            for fault in self._faults
        )

    def _take(self, fault: _Fault) -> bool:
        if fault in self._used:
            return True
        if fault.remaining == 0:  # another request has used it up meanwhile
            return False
        fault.use()
        self._used.add(fault)
        return True


NOTHING_INJECTED = InjectedErrors([])


@dataclass(slots=True)
class FaultPlan:
    """The faults of one request."""

    injected: InjectedErrors
    stall: asyncio.Event | None = None
    delay_s: float = 0.0
    throttle_time_ms: int = 0
    cut_after_bytes: int | None = None
    is_silent: bool = False


class Faults:
    """The switches for faults, `broker.faults`.

    An API is given by its name ("Produce"), its key or its request type. An error is given by
    Kafka's name ("NOT_LEADER_OR_FOLLOWER"), its code or its class.

    Raises: ValueError, in every switch, for an unknown name, with the names that exist, or for a
    number out of its range; TypeError for an API or an error of another type.
    """

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._in_loop: Callable[[Callable[[], None]], None] = lambda function: function()

    def run_in(self, in_loop: Callable[[Callable[[], None]], None]) -> None:
        """Release stalled requests by `in_loop`, which runs a function in the broker's loop."""
        self._in_loop = in_loop

    def fail(
        self,
        api: Api,
        error: Error,
        times: int | None = 1,
        *,
        topic_partition: TopicPartition | tuple[str, int] | None = None,
        node_id: int | None = None,
    ) -> None:
        """Answer with `error`: in every partition of the request, or in the given one only.

            broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)

        The failed part is not executed. Errors of a fetch session fail the whole Fetch.
        """
        code = error_code_of(error)
        wanted = None if topic_partition is None else TopicPartition(*topic_partition)
        self._arm(_InjectedFailure(api_key_of(api), times, node_id, code, wanted))

    def cut(
        self,
        api: Api,
        after_bytes: int = 0,
        times: int | None = 1,
        *,
        node_id: int | None = None,
    ) -> None:
        """Execute the request, send `after_bytes` bytes of the response, and close the
        connection.
        """
        if after_bytes < 0:
            raise ValueError(f"after_bytes must be 0 or more, got {after_bytes}")
        self._arm(_Cut(api_key_of(api), times, node_id, after_bytes))

    def drop(self, api: Api, times: int | None = 1, *, node_id: int | None = None) -> None:
        """Execute the request, but never respond again on that connection, which stays open."""
        self._arm(_Silence(api_key_of(api), times, node_id))

    def delay(
        self, api: Api, seconds: float, times: int | None = 1, *, node_id: int | None = None
    ) -> None:
        """Execute the request at once, and respond `seconds` later, by the broker's clock."""
        if seconds < 0:
            raise ValueError(f"seconds must be 0 or more, got {seconds}")
        self._arm(_Delay(api_key_of(api), times, node_id, seconds))

    def throttle(
        self,
        api: Api,
        throttle_time_ms: int,
        times: int | None = 1,
        *,
        node_id: int | None = None,
    ) -> None:
        """Ask the client in the response to pause for `throttle_time_ms` (KIP-219)."""
        self._arm(_Throttle(api_key_of(api), times, node_id, throttle_time_ms))

    def stall(self, api: Api, times: int | None = 1, *, node_id: int | None = None) -> None:
        """Hold requests, before executing them, until `release()`."""
        self._arm(_Stall(api_key_of(api), times, node_id))

    def release(self) -> None:
        """Release all stalled requests, and disarm every stall."""

        def release_all() -> None:
            for fault in self._faults:
                if isinstance(fault, _Stall):
                    fault.released.set()
            self._faults = [fault for fault in self._faults if not isinstance(fault, _Stall)]

        self._in_loop(release_all)

    def corrupt(
        self,
        topic_partition: TopicPartition | tuple[str, int],
        times: int | None = 1,
        *,
        api: Api = "Fetch",
    ) -> None:
        """Flip a byte in this partition's records in the next responses to Fetch, or to ShareFetch;
        the log stays intact.

        For lasting damage use `broker.log(topic_partition).corrupt(offset)`.
        """
        self._arm(_Corruption(api_key_of(api), times, None, TopicPartition(*topic_partition)))

    def clear(self) -> None:
        """Disarm everything, and release stalled requests."""
        self.release()
        self._faults = []

    def plan(self, api_key: int, node_id: int) -> FaultPlan | None:
        """Return the faults of a request; None without any. Uses up the faults it returns."""
        if not self._faults:
            return None
        fitting = [fault for fault in self._faults if fault.fits(api_key, node_id)]
        if not fitting:
            return None
        plan = FaultPlan(
            InjectedErrors([f for f in fitting if isinstance(f, (_InjectedFailure, _Corruption))])
        )
        seen: set[type[_Fault]] = set()
        for fault in fitting:
            if isinstance(fault, (_InjectedFailure, _Corruption)) or type(fault) in seen:
                continue
            seen.add(type(fault))
            fault.use()
            _apply(plan, fault)
        return plan

    def _arm(self, fault: _Fault) -> None:
        if fault.remaining is not None and fault.remaining < 1:
            raise ValueError(
                f"times must be 1 or more, or None for every request until clear(); "
                f"got {fault.remaining}"
            )
        # Remove used-up faults here, not in a request: stalled requests still need theirs.
        self._faults = [f for f in self._faults if f.remaining != 0 or isinstance(f, _Stall)]
        self._faults.append(fault)


def _apply(plan: FaultPlan, fault: _Fault) -> None:
    match fault:
        case _Stall():
            plan.stall = fault.released
        case _Delay():
            plan.delay_s = fault.seconds
        case _Throttle():
            plan.throttle_time_ms = fault.throttle_time_ms
        case _Cut():
            plan.cut_after_bytes = fault.after_bytes
        case _Silence():
            plan.is_silent = True


__all__ = ["NOTHING_INJECTED", "FaultPlan", "Faults", "InjectedErrors"]
