"""Plays exchanges with a broker, a real one or the embedded one, and makes their answers neutral.

A `Case` is a row of the corpus: a name, and steps. Each step builds one request of our own
declarations. What a broker answers becomes plain data: fields that have their default are left out,
and ids, ports and times get names in the order in which they appear.
"""

import asyncio
import dataclasses
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from aiokafka_lite.concurrency.loop_network import loop_network
from aiokafka_lite.errors import KafkaError, UnsupportedVersionError
from aiokafka_lite.protocol.api_registry import API_BY_KEY
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.record.batch_header import MAGIC_OFFSET, parse_header
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.schema.field_types import ZERO_UUID, ArrayOf
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct, fields_of
from tests.testing.broker.bench import WireClient

CLOSED: Final = "the connection is closed"
SILENT: Final = "no answer"
NOT_YET: Final = (5, 6, 14, 15, 16)
"""Errors of a real broker that has not found its leaders and coordinators yet."""
LOADING: Final = (14, 15)
"""Those of a coordinator that reads its state first: never part of the corpus."""
_PATIENCE_S: Final = 30.0
_DAY_MS: Final = 86_400_000
_NEUTRAL_ID: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![\w-])[\w-]{22}(?![\w-])"
)
_KEYS: Final = (
    *("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name", "user"),
    *("index", "partition_index", "partition", "partition_id", "offset", "first_offset"),
    *("batch_index", "node_id", "broker_id", "member_id", "key", "entity_type"),
)
_IDS: Final = ("producer_id", "next_producer_id")

_REQUESTS: Final = {
    api.request.__name__.removesuffix("Request"): api.request for api in API_BY_KEY.values()
}

Build = Callable[["Scene"], Request[Any]]
"""Makes a request from what is known in the scene."""


@dataclass(frozen=True)
class Step:
    """One request, and what is done with its answer."""

    name: str
    build: Build
    is_kept: bool = True
    """Whether the answer belongs to the corpus; else it must not be an error."""
    in_each_version: bool = False
    """Whether it is asked in each version in which a field begins; else in the newest."""
    via: str = "first"
    """The connection."""
    until: Callable[[Any], bool] | None = None
    """Ask again until the answer is so: real brokers need a moment."""
    version: int | None = None
    is_answered: bool = True
    """False: the answer comes in a later step, `hear`."""
    only: Callable[["Scene", Any], Any] | None = None
    """Takes what concerns the scene out of an answer about all that the broker has."""


@dataclass(frozen=True)
class Pause:
    """Lets time pass."""

    seconds: float


@dataclass(frozen=True)
class Hear:
    """Reads the answer to a step that did not wait for it."""

    name: str
    via: str = "first"


@dataclass(frozen=True)
class Case:
    """One row of the corpus."""

    name: str
    steps: tuple[Step | Pause | Hear | tuple[Step, ...], ...]
    is_fresh: bool = False
    """Whether all of it is played anew for each version, because the request changes something."""

    def each(self) -> Iterator[Step | Pause | Hear]:
        """Yield the steps, those of a group one by one."""
        for step in self.steps:
            yield from step if isinstance(step, tuple) else (step,)


class Place(Protocol):
    """Where a corpus is played."""

    address: str

    def now_ms(self) -> int:
        """Return the broker's time."""


@dataclass
class RealPlace:
    """A broker that runs elsewhere."""

    address: str

    def now_ms(self) -> int:
        return int(time.time() * 1000)


@dataclass
class Scene:
    """What one run of a case knows."""

    place: Place
    prefix: str
    newest: dict[int, tuple[int, int]]
    version: int = 0
    """The version of the request that is being built."""
    answers: dict[str, Any] = field(default_factory=dict)
    topic_ids: dict[str, UUID] = field(default_factory=dict)
    share_epoch: int = 0
    """The epoch of the next request in the share session."""

    def named(self, name: str) -> str:
        """Return a name of topics, groups and so on that no other case has."""
        return f"{self.prefix}{name}"

    def topic(self, name: str = "t", *, ids_since: int = 0x7FFF) -> dict[str, Any]:
        """Return a topic's name, or its id from a version on, for a request."""
        if self.version >= ids_since:
            return {"topic_id": self.topic_ids.get(name, UUID(int=7))}
        return {"name": self.named(name)}

    @property
    def now_ms(self) -> int:
        """The broker's time."""
        return self.place.now_ms()


def versions_of(request: type[Request[Any]]) -> list[int]:
    """Return the versions in which a field begins, in a request or its response, and the ends."""
    span = request.versions
    begins = {span.min, span.max, request.flexible.min}
    pending: list[type[Struct]] = [request, request.response_type]
    while pending:
        for each in fields_of(pending.pop()):
            begins |= {each.versions.min, each.versions.max + 1, each.nullable.min}
            kind = each.type.element if isinstance(each.type, ArrayOf) else each.type
            if isinstance(kind, type) and issubclass(kind, Struct):
                pending.append(kind)
    return sorted(version for version in begins if version in span)


class Player:
    """Plays cases with one broker."""

    def __init__(self, place: Place, *, real: bool) -> None:
        self.place = place
        self.newest: dict[int, tuple[int, int]] = {}
        self._is_real = real
        self._count = 0

    async def start(self) -> None:
        """Ask for the versions of the broker."""
        about_me = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        async with await connect(self.place.address) as client:
            for api in (await client.ask(about_me, 3)).api_keys:
                self.newest[api.api_key] = (api.min_version, api.max_version)

    def served(self, request: type[Request[Any]]) -> list[int]:
        """Return the versions of `versions_of` that the broker has, too, and its newest."""
        low, high = self.newest.get(request.api_key, (0, -1))
        high = min(high, request.versions.max)
        found = [version for version in versions_of(request) if low <= version <= high]
        return found if not found or high in found else [*found, high]

    async def play(self, case: Case) -> dict[str, dict[str, Any]]:
        """Return the neutral answers: step -> version -> answer."""
        if not case.is_fresh:
            return await self._run(case, None)
        kept: dict[str, dict[str, Any]] = {}
        varied = next(s for s in case.each() if isinstance(s, Step) and s.in_each_version)
        for version in self.served(_kind(varied, self._scene())):
            for step, answers in (await self._run(case, version)).items():
                kept.setdefault(step, {}).update(answers)
        return kept

    def _scene(self) -> Scene:
        self._count += 1
        return Scene(self.place, f"x{self._count:04}", self.newest)

    async def _run(self, case: Case, chosen: int | None) -> dict[str, dict[str, Any]]:
        scene, run = self._scene(), _Run()
        try:
            for step in case.each():
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                elif isinstance(step, Hear):
                    client, request, version = run.unheard[step.via]
                    answer = await _heard(client, request, version)
                    run.keep(scene, step.name, version, answer)
                else:
                    await self._step(scene, run, step, chosen)
        finally:
            for client in run.clients.values():
                client.writer.close()
        return run.kept

    async def _step(self, scene: Scene, run: "_Run", step: Step, chosen: int | None) -> None:
        kind = _kind(step, scene)
        served = self.served(kind)
        if step.version is not None:
            versions = [step.version]
        elif step.in_each_version:
            versions = served if chosen is None else [chosen]
        else:
            versions = served[-1:]
        if not versions:
            raise NotServedError(kind.__name__)
        for version in versions:
            scene.version = version
            try:
                answer = await self._asked(scene, run, step, version)
            except UnsupportedVersionError:  # it lacks a field that the request sets
                continue
            scene.answers[step.name] = answer
            if not step.is_answered:
                continue
            if step.is_kept:
                told = answer if step.only is None else step.only(scene, answer)
                run.keep(scene, step.name, version, told)
            else:
                assert not isinstance(answer, str), (step.name, answer)
                assert not find_error(answer), (step.name, answer)

    async def _asked(self, scene: Scene, run: "_Run", step: Step, version: int) -> Any:
        end = asyncio.get_running_loop().time() + _PATIENCE_S
        while True:
            client = run.clients.get(step.via)
            if client is None:
                client = run.clients[step.via] = await connect(self.place.address, step.via)
            request = step.build(scene)
            client.send(request, version)
            scene.share_epoch = getattr(request, "share_session_epoch", scene.share_epoch - 1) + 1
            if not step.is_answered:
                run.unheard[step.via] = client, request, version
                return None
            if getattr(request, "acks", None) == 0:
                await asyncio.sleep(0.2)
                return SILENT if not client.reader.at_eof() else run.drop(step.via)
            answer = await _heard(client, request, version)
            if answer == CLOSED:
                return run.drop(step.via)
            if asyncio.get_running_loop().time() > end or not self._is_early(step, answer):
                return answer
            await asyncio.sleep(0.02)

    def _is_early(self, step: Step, answer: Any) -> bool:
        if step.until is not None:
            return not step.until(answer)
        if not self._is_real:
            return False
        return find_error(answer) in (LOADING if step.is_kept else NOT_YET)


class _Anything(defaultdict[str, Any]):
    """Stands for answers that are not there yet, where only the API of a request counts."""

    def __getattr__(self, name: str) -> Any:
        return "" if name == "member_id" else 0


def _kind(step: Step, scene: Scene) -> type[Request[Any]]:
    known = dataclasses.replace(
        scene,
        answers=defaultdict(_Anything, scene.answers),
        topic_ids=defaultdict(lambda: ZERO_UUID, scene.topic_ids),
    )
    return type(step.build(known))


class NotServedError(Exception):
    """The broker does not serve the API."""


@dataclass
class _Run:
    clients: dict[str, WireClient] = field(default_factory=dict)
    unheard: dict[str, tuple[WireClient, Request[Any], int]] = field(default_factory=dict)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def keep(self, scene: Scene, step: str, version: int, answer: Any) -> None:
        self.kept.setdefault(step, {})[str(version)] = neutral(answer, scene, self.names)

    def drop(self, via: str) -> str:
        self.clients.pop(via).writer.close()
        return CLOSED


async def connect(address: str, client_id: str = "first") -> WireClient:
    """Return a connection, over a socket or the network of a virtual loop."""
    network = loop_network()
    if network is None:
        return await WireClient.connect(address)
    reader = asyncio.StreamReader()
    made = asyncio.StreamReaderProtocol(reader)
    taken: list[asyncio.BaseTransport] = []

    class Kept(asyncio.StreamReaderProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            taken.append(transport)
            super().connection_made(transport)

    made = Kept(reader)
    await network.connect(int(address.rpartition(":")[2]), lambda: made, client_id)
    transport: Any = taken[0]
    return WireClient(
        reader, asyncio.StreamWriter(transport, made, reader, asyncio.get_running_loop())
    )


async def _heard(client: WireClient, request: Request[Any], version: int) -> Any:
    try:
        return (await client.receive(type(request).response_type, version))[1]
    except (ConnectionError, asyncio.IncompleteReadError):
        return CLOSED


def find_error(answer: Any) -> int:
    """Return the first error code that is not 0 in an answer."""
    if isinstance(answer, list):
        return next(filter(None, map(find_error, answer)), 0)
    if not isinstance(answer, Struct):
        return 0
    values: dict[str, Any] = {f.name: getattr(answer, f.name) for f in fields_of(type(answer))}
    own: int = values.get("error_code", 0)
    return own or next(filter(None, map(find_error, values.values())), 0)


# Neutral answers…


@dataclass(frozen=True)
class _Named:
    """Something that differs from run to run."""

    value: str
    kind: str


def neutral(answer: Any, scene: Scene, names: dict[str, str]) -> Any:
    """Return an answer as plain data that is the same in each run."""
    if not isinstance(answer, Response):
        return _name(_plain(answer, scene, "", ()), names)
    return _name(_plain(answer, scene, "", ()), names)


def _plain(value: Any, scene: Scene, name: str, path: Sequence[str]) -> Any:
    if isinstance(value, Struct):
        return _plain_struct(value, scene, path)
    if isinstance(value, list):
        told = [_plain(each, scene, name, path) for each in value]
        return sorted(told, key=_order) if told and isinstance(told[0], dict | str) else told
    if isinstance(value, UUID):
        return _Named(str(value), "id")
    if isinstance(value, bytes | bytearray | memoryview):
        if name == "records":
            return _records(bytes(value), scene)
        return _text(bytes(value).decode("latin-1"), scene)
    if isinstance(value, str):
        return _text(value, scene)
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return _number(value, scene, name)


def _plain_struct(value: Struct, scene: Scene, path: Sequence[str]) -> dict[str, Any]:
    told = {}
    for each in fields_of(type(value)):
        content = getattr(value, each.name)
        if each.has_list_default and content == []:
            continue
        is_plain = not each.has_list_default and not isinstance(content, list)
        if is_plain and content == each.default and (each.name not in _IDS or content < 0):
            continue
        if isinstance(content, UUID) and content == ZERO_UUID:
            continue
        if each.name in ("host", "client_host", "cluster_id", "log_dir"):
            told[each.name] = f"<{each.name}>"
        elif each.name == "port":
            told[each.name] = "<port>"
        else:
            told[each.name] = _plain(content, scene, each.name, (*path, each.name))
    return told


def _number(value: int, scene: Scene, name: str) -> Any:
    if name in _IDS and value >= 0:
        return _Named(str(value), "producer")
    if abs(value - scene.now_ms) < _DAY_MS // 2:
        return "<time>"
    if name == "throttle_time_ms":
        return "<throttled>"
    return value


def _text(value: str, scene: Scene) -> Any:
    found = value.replace(scene.prefix, "")
    found = re.sub(r"\b1[78]\d{11}\b", "<time>", found)
    ids = [each for each in _NEUTRAL_ID.findall(found) if not each.isalpha()]
    if found in ids:
        return _Named(found, "id")
    for each in ids:
        found = found.replace(each, "<id>")
    return found


def _records(data: bytes, scene: Scene) -> Any:
    told = []
    for each in iter_batches(data):
        if each.view[MAGIC_OFFSET] < 2:
            told.append({"magic": each.view[MAGIC_OFFSET]})
            continue
        header = parse_header(each.view)
        batch: dict[str, Any] = {
            "base_offset": header.base_offset,
            "attributes": header.attributes,
            "last_offset_delta": header.last_offset_delta,
            "base_timestamp": _number(header.base_timestamp, scene, ""),
            "max_timestamp": _number(header.max_timestamp, scene, ""),
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "records_count": header.records_count,
        }
        if not header.is_control and header.records_count:
            cursor = RecordCursor(
                each.view, topic="t", partition=0, fetch_offset=header.base_offset
            )
            try:
                batch["records"] = [_record(each, scene) for each in cursor.take(10_000)]
            except KafkaError:
                batch["records"] = "what no client can read"
        told.append(batch)
    return told


def _record(record: Any, scene: Scene) -> dict[str, Any]:
    told = {
        "offset": record.offset,
        "timestamp": _number(record.timestamp, scene, ""),
        "key": _short(record.key, scene),
        "value": _short(record.value, scene),
    }
    if record.headers:
        told["headers"] = [[name, _short(text, scene)] for name, text in record.headers]
    return told


def _short(content: bytes | None, scene: Scene) -> Any:
    if content is None:
        return None
    return (
        f"<{len(content)} bytes>" if len(content) > 80 else _text(content.decode("latin-1"), scene)
    )


def _order(told: Any) -> str:
    """Return what structs are sorted by, as real brokers have no order: names and numbers first."""
    first = [told[key] for key in _KEYS if key in told] if isinstance(told, dict) else []
    return json.dumps([first, told], sort_keys=True, default=lambda named: named.kind)


def _name(told: Any, names: dict[str, str]) -> Any:
    if isinstance(told, dict):
        return {name: _name(value, names) for name, value in told.items()}
    if isinstance(told, list):
        return [_name(value, names) for value in told]
    if isinstance(told, _Named):
        same = sum(each.startswith(f"<{told.kind} ") for each in names.values())
        return names.setdefault(told.value, f"<{told.kind} {same + 1}>")
    return told


# Comparing…


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where two neutral answers differ: the path, what Kafka said, what the other says.

    Of texts for people only the kind is compared: none, or some.
    """
    if path.endswith("error_message") and theirs and ours:
        return
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in dict.fromkeys([*theirs, *ours]):
            yield from differences(theirs.get(name), ours.get(name), f"{path}.{name}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (left, right) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(left, right, f"{path}.{index}")
    elif theirs != ours:
        yield path, theirs, ours


# Steps and rows, as the tables write them…


def q(api: str, /, **fields: Any) -> Request[Any]:
    """Return the request of an API by its name; structs within it are written as dictionaries."""
    made: Request[Any] = _struct(_REQUESTS[api], fields)
    return made


def _struct(kind: Any, fields: dict[str, Any]) -> Any:
    types = {each.name: each.type for each in fields_of(kind)}
    return kind(**{name: _value(types[name], value) for name, value in fields.items()})


def _value(kind: Any, value: Any) -> Any:
    if isinstance(kind, ArrayOf) and value is not None:
        return [_value(kind.element, each) for each in value]
    if isinstance(value, dict):
        return _struct(kind, value)
    return value


def ask(name: str, build: Build, **more: Any) -> Step:
    """Return a step whose answer belongs to the corpus."""
    return Step(name, build, **more)


def do(name: str, build: Build, **more: Any) -> Step:
    """Return a step that prepares others."""
    return Step(name, build, is_kept=False, **more)


def each(name: str, *before: Any, ask: Build, then: Sequence[Any] = (), **more: Any) -> Case:
    """Return a row whose request is asked in each version in which a field begins."""
    varied = Step("answer", ask, in_each_version=True, **more)
    return Case(name, (*before, varied, *then))


def fresh(name: str, *before: Any, ask: Build, then: Sequence[Any] = (), **more: Any) -> Case:
    """Return such a row that is played anew for each version."""
    varied = Step("answer", ask, in_each_version=True, **more)
    return Case(name, (*before, varied, *then), is_fresh=True)


def sequence(name: str, *steps: Any) -> Case:
    """Return a row of steps, each in its newest version."""
    return Case(name, steps)


__all__ = [
    "CLOSED",
    "Build",
    "Case",
    "Hear",
    "NotServedError",
    "Pause",
    "Player",
    "RealPlace",
    "Scene",
    "Step",
    "ask",
    "connect",
    "differences",
    "do",
    "each",
    "find_error",
    "fresh",
    "neutral",
    "q",
    "sequence",
    "versions_of",
]
