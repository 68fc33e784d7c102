"""Asks the seeds (`bootstrap_servers`) for metadata and takes the first response.

If no seed answers, one error says what happened at each of them. The client asks the seeds at its
start, and again whenever it can reach no known node (KIP-899). Only `SeedRound.ask` waits, within a
bound.
"""

import random
from collections.abc import Mapping
from typing import TypeGuard

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, TaskOwner
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    MetadataEmptyBrokerList,
    NameResolutionError,
    for_code,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import Node
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse

STAGGER_S = 0.25
"""Seconds after which the next seed is asked as well. Source: RFC 8305, section 5."""


class SeedRound:
    """One Metadata request, sent to the seeds in random order, to each of them at most once."""

    def __init__(
        self, network: NetworkClient, *, clock: Clock, rng: random.Random, owner: TaskOwner
    ) -> None:
        self._network = network
        self._clock = clock
        self._owner = owner
        self.seeds = network.seeds
        """Those of this round; the user may replace them meanwhile."""
        self._pending = list(self.seeds)
        rng.shuffle(self._pending)
        self._tasks: dict[int, OwnedTask] = {}
        self._errors: dict[int, KafkaError] = {}
        self._answer: tuple[int, MetadataResponse] | None = None
        self._waits_for_credentials = False
        self._changed = Wakeup()

    def present(self, began_s: float) -> str:
        """Return what has happened at each seed since `began_s`, as the end of a sentence."""
        waited_s = self._clock.monotonic() - began_s
        told = {each: _no_answer(waited_s, self._network.silence(each)) for each in self.seeds}
        told |= {node_id: reason_of(error) for node_id, error in self._errors.copy().items()}
        return ", ".join(f"{_address(self.seeds[each])}: {said}" for each, said in told.items())

    async def ask(self, request: MetadataRequest, bound_s: float) -> tuple[int, MetadataResponse]:
        """Return the seed (-1, -2, …) that answered first, and its response.

        The next seed is asked when the one before fails, or has not answered for `STAGGER_S`. The
        connections to the seeds stay open; the caller closes them.

        Raises: KafkaConnectionError if no usable response came within `bound_s`, with each seed and
        what happened there; NameResolutionError, which is one, if none of their names has an
        address; AuthenticationFailedError, at once, if a seed does not accept the
        client, or the client does not accept its certificate. The other seeds are not asked then:
        more attempts with the same password could lock the user out. Source: Metadata.fatalError.
        Cancelled: no request stays behind.
        """
        try:
            async with deadline(self._clock, bound_s):
                while self._may_go_on():
                    if self._pending:
                        self._ask_next(request, bound_s)
                    await self._changed.wait_for(self._clock, STAGGER_S)
        except TimeoutError:
            pass  # the response or the errors that have come by now count
        finally:
            self._waits_for_credentials = any(map(self._network.waits_for_credentials, self.seeds))
            silences = {node_id: self._network.silence(node_id) for node_id in self.seeds}
            await self._give_up_the_rest()
        if self._answer is None:
            raise self._failure()(self._what_happened(bound_s, silences)) from self._first_cause()
        return self._answer

    def _may_go_on(self) -> bool:
        if self._answer is not None or _is_authentication(self._first_cause()):
            return False
        return bool(self._pending) or self._is_waiting()

    def _ask_next(self, request: MetadataRequest, bound_s: float) -> None:
        node_id = self._pending.pop(0)
        name = f"bootstrap[{_address(self.seeds[node_id])}]"
        self._tasks[node_id] = self._owner.spawn(name, self._ask_one, node_id, request, bound_s)

    async def _ask_one(self, node_id: int, request: MetadataRequest, bound_s: float) -> None:
        try:
            answer = await self._network.request(node_id, request, timeout_s=bound_s)
            check_answer(answer)
            if self._answer is None:
                self._answer = (node_id, answer)
        except KafkaError as error:
            self._errors[node_id] = error
        finally:
            self._changed.set()

    def _is_waiting(self) -> bool:
        return any(not task.done for task in list(self._tasks.values()))

    async def _give_up_the_rest(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
        for task in list(self._tasks.values()):
            await task.wait()

    def _first_cause(self) -> KafkaError | None:
        fatal = (error for error in list(self._errors.values()) if _is_authentication(error))
        return next(fatal, next(iter(list(self._errors.values())), None))

    def _failure(self) -> type[KafkaError]:
        cause = self._first_cause()
        if _is_authentication(cause):
            return type(cause)
        errors = [self._errors.get(each) for each in self.seeds]
        has_names = any(not isinstance(error, NameResolutionError) for error in errors)
        return KafkaConnectionError if has_names else NameResolutionError

    def _what_happened(self, bound_s: float, silences: Mapping[int, str | None]) -> str:
        seeds = self.seeds
        several = f"any of the {len(seeds)} bootstrap_servers; check the addresses"
        places = several if len(seeds) > 1 else "bootstrap_servers; check the address"
        said = f"no Kafka broker answered at {places} and that a broker listens there:"
        told = {each: _no_answer(bound_s, silences[each]) for each in seeds}
        if _is_authentication(self._first_cause()):
            said = "a broker of bootstrap_servers refuses this client or is not trusted; check the "
            said += "security options:"
            told = {}  # the other seeds were not asked, or not waited for
        elif self._waits_for_credentials:
            said = "a broker of bootstrap_servers was not given the credentials of this client:"
        told |= {node_id: reason_of(error) for node_id, error in self._errors.copy().items()}
        return said + "".join(_line(_address(seeds[node_id]), told[node_id]) for node_id in told)


def _no_answer(waited_s: float, silence: str | None) -> str:
    said = f"no answer within {waited_s:.3g} s"
    return f"{said}: {silence}" if silence else said


def _line(address: str, what: str) -> str:
    what = what.removeprefix(f"cannot connect to {address}: ")
    return f"\n  - {what}" if what.startswith(address) else f"\n  - {address}: {what}"


def _is_authentication(error: KafkaError | None) -> TypeGuard[AuthenticationFailedError]:
    return isinstance(error, AuthenticationFailedError)


def check_answer(answer: MetadataResponse) -> None:
    """Return if the metadata can be used.

    Raises: `RebootstrapRequiredError` or another error that the response carries as a whole;
    `MetadataEmptyBrokerList` when it names no node, as a broker does that is starting up.
    """
    if answer.error_code:
        raise for_code(answer.error_code)("the broker refuses to give metadata")
    if not answer.brokers:
        raise MetadataEmptyBrokerList(
            "the metadata names no broker: this one is starting up, or all are fenced"
        )


def _address(node: Node) -> str:
    return str(Endpoint(node.host, node.port))


__all__ = ["SeedRound", "check_answer"]
