"""A cluster without a network, for handlers; batches in a line; a client of bare frames."""

import asyncio
import contextlib
import random
import ssl
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.protocol.message_header import decode_response, encode_response
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.testing.broker.faults import NOTHING_INJECTED, Faults
from aiokafka_lite.testing.broker.handler import Handler, Later, NodeContext, RequestContext
from aiokafka_lite.testing.broker.router import Router
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerNode,
    ClusterState,
    TopicState,
)
from aiokafka_lite.testing.broker.state.groups.group_coordinators import GroupCoordinators
from aiokafka_lite.testing.broker.state.log.fetch_sessions import FetchSessionCache
from aiokafka_lite.testing.broker.state.log_dirs import LogDirs
from aiokafka_lite.testing.broker.state.reassignments import Reassignments
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import (
    TxnCoordinator,
)
from aiokafka_lite.testing.fake_clock import FakeClock

ResponseT = TypeVar("ResponseT", bound=Response)


def batch(
    *values: bytes,
    timestamps: Sequence[int] = (),
    compression: CompressionType = CompressionType.NONE,
    producer: tuple[int, int, int] | None = None,
    is_transactional: bool = False,
) -> bytes:
    """One batch; `producer` is (id, epoch, base sequence); timestamps count from 1000."""
    builder = RecordBatchBuilder(
        bytearray(4_000_000), compression=compression, is_transactional=is_transactional
    )
    for i, value in enumerate(values or (b"v",)):
        timestamp = timestamps[i] if timestamps else 1000 + i
        assert builder.append(timestamp, b"k", value) is not None
    builder.seal()
    if producer is not None:
        builder.stamp(*producer)
    return bytes(builder.wire())


def marker(producer_id: int, control: ControlRecordType) -> bytes:
    """The control batch that ends a transaction."""
    return build_control_batch(
        control, base_offset=0, producer_id=producer_id, producer_epoch=0, timestamp_ms=1
    )


class Bench:
    """The cluster that handlers work on, and the faults between."""

    def __init__(
        self,
        nodes: int = 1,
        *,
        session_slots: int = 10,
        **options: Any,
    ) -> None:
        self.clock = FakeClock()
        self.faults = Faults()
        rng = random.Random(1)
        members = [
            BrokerNode(i, "127.0.0.1", {"PLAINTEXT": 9000 + i, "OUT": 9500 + i}, rack=f"r{i}")
            for i in range(1, nodes + 1)
        ]
        chosen = BrokerOptions(**options)
        self.cluster = ClusterState(members, chosen, rng)
        self.groups = GroupCoordinators(self.cluster, chosen, self.clock, rng)
        self.transactions = TxnCoordinator(self.cluster, self.groups, chosen, self.clock)
        self.reassignments = Reassignments(self.cluster)
        self.log_dirs = LogDirs(self.cluster, chosen.log_dirs)
        served = Router(self.faults, lambda *_: None, max_versions={}).advertised_versions()
        self.nodes = {
            node.node_id: NodeContext(
                node,
                self.cluster,
                FetchSessionCache(session_slots, rng),
                self.clock,
                served,
                self.groups,
                self.transactions,
                self.reassignments,
                self.log_dirs,
            )
            for node in members
        }

    def topic(self, name: str = "t", partitions: int = 1, **settings: str) -> TopicState:
        """Create a topic; underscores in setting names stand for dots."""
        topic = self.cluster.new_topic(
            name,
            num_partitions=partitions,
            settings={key.replace("_", "."): value for key, value in settings.items()},
        )
        self.cluster.add_topic(topic)
        return topic

    def serve(
        self,
        handler: Handler,
        request: Request[Any],
        version: int,
        node_id: int = 1,
        session: Session = OPEN_SESSION,
    ) -> Response | Later | None:
        """What the handler answers to the request as a node would read it off the wire."""
        decoded = type(request).decode(b"".join(request.encode(version)), version)
        plan = self.faults.plan(request.api_key, node_id)
        injected = NOTHING_INJECTED if plan is None else plan.injected
        context = RequestContext(self.nodes[node_id], version, injected, "me", session)
        return handler.handle(context, decoded)

    def ask(
        self,
        handler: Handler,
        request: Request[ResponseT],
        version: int,
        node_id: int = 1,
        session: Session = OPEN_SESSION,
    ) -> ResponseT:
        """The answer as the client would read it off the wire."""
        answer = self.serve(handler, request, version, node_id, session)
        assert isinstance(answer, Response), "the handler waits, or does not answer"
        return on_the_wire(answer, request, version)


def on_the_wire(answer: Response, request: Request[ResponseT], version: int) -> ResponseT:
    """The response after a journey as bytes, which only works if it fits the version."""
    frame = b"".join(encode_response(answer, version=version, correlation_id=1))
    return decode_response(type(request).response_type, frame[4:], version)[1]


class WireClient:
    """Sends requests and reads frames; knows nothing else."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._correlation_id = 0

    @classmethod
    async def connect(cls, address: str, tls: ssl.SSLContext | None = None) -> Self:
        """Open a connection to "host:port", the first of several."""
        host, _, port = address.split(",", maxsplit=1)[0].rpartition(":")
        return cls(*await asyncio.open_connection(host.strip("[]"), int(port), ssl=tls))

    async def authenticate(
        self, mechanism: str, *tokens: bytes, version: int = 2
    ) -> SaslAuthenticateResponse:
        """Choose a mechanism and send tokens; return the last answer."""
        chosen = await self.ask(SaslHandshakeRequest(mechanism=mechanism))
        assert chosen.error_code == 0, chosen
        for token in tokens:
            answer = await self.ask(SaslAuthenticateRequest(auth_bytes=token), version)
        return answer

    async def log_in(self, user: str, password: str) -> SaslAuthenticateResponse:
        """Authenticate by PLAIN."""
        return await self.authenticate("PLAIN", f"\0{user}\0{password}".encode())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):  # the broker was faster
            await self.writer.wait_closed()

    def send(self, request: Request[Any], version: int) -> int:
        """Write a request; return its correlation id."""
        self._correlation_id += 1
        self.writer.writelines(
            encode_request(
                request, version=version, correlation_id=self._correlation_id, client_id="wire"
            )
        )
        return self._correlation_id

    async def receive_frame(self) -> bytes:
        """Read one frame, at most 30 s long."""
        async with asyncio.timeout(30):
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return await self.reader.readexactly(size)

    async def receive(self, response_type: type[ResponseT], version: int) -> tuple[int, ResponseT]:
        """Read one answer with its correlation id."""
        return decode_response(response_type, await self.receive_frame(), version)

    async def ask(self, request: Request[ResponseT], version: int | None = None) -> ResponseT:
        """Send a request, in its newest version unless said otherwise, and read the answer."""
        chosen = type(request).versions.max if version is None else version
        sent = self.send(request, chosen)
        received, response = await self.receive(type(request).response_type, chosen)
        assert received == sent
        return response

    async def is_closed_by_peer(self) -> bool:
        """Wait for the end of the stream, at most 30 s; return whether nothing came before it."""
        async with asyncio.timeout(30):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True
