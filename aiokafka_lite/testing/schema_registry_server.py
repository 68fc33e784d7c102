"""A schema registry for tests: real HTTP on 127.0.0.1, schemas in memory, a thread of its own.

It serves the requests of Confluent's REST interface that clients send, to any client. It does not
judge compatibility itself: `is_compatible` does.
"""

import json
import ssl
import threading
import uuid
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import parse_qs, unquote, urlsplit

_MOST_BODY_BYTES = 16 << 20
_NO_SUBJECT = (404, 40401, "Subject '{}' not found.")
_NO_VERSION = (404, 40402, "Version {} not found.")
_NO_SCHEMA = (404, 40403, "Schema {} not found")


class _RefusedError(Exception):
    """A request that is answered with an error: status, code, text."""


class SchemaRegistryServer:
    """Serves a registry while it is entered: `with SchemaRegistryServer() as registry:`."""

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        """`ssl_context`: serve https with it."""
        self.url = ""
        """The address; empty before the start."""
        self.requests: list[str] = []
        """Each request so far, such as "GET /schemas/ids/1"."""
        self.authorization: list[str | None] = []
        """The header of that name, for each request."""
        self.failures: list[int] = []
        """The HTTP statuses that the next requests get instead of an answer."""
        self.is_compatible: Callable[[str, str, str], bool] = lambda _subject, _new, _old: True
        """Called with a subject, a new schema and the newest one; False refuses the new one."""
        self.answers: dict[str, Any] = {}
        """What a path is answered with, whatever is stored."""
        self._ssl_context = ssl_context
        self._lock = threading.Lock()
        self._schemas: dict[int, dict[str, Any]] = {}
        self._subjects: dict[str, dict[int, int]] = {}  # the id of each version
        self._deleted: dict[str, dict[int, int]] = {}  # those that `?deleted=true` still shows
        self._levels: dict[str, str] = {}
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen on a free port, and answer in a thread."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        scheme = "http"
        if self._ssl_context is not None:
            server.socket = self._ssl_context.wrap_socket(server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{server.server_port}"
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop answering. The schemas stay. Idempotent."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is not None and thread is not None:
            server.shutdown()
            thread.join()
            server.server_close()

    def register(
        self,
        subject: str,
        schema: Any,
        *,
        schema_type: str = "AVRO",
        references: Sequence[tuple[str, str, int]] = (),
        schema_id: int | None = None,
    ) -> int:
        """Store a schema as the newest of a subject; return its id.

        `schema` is a text, or what becomes one as JSON. `references`: (name, subject, version).
        """
        body: dict[str, Any] = {
            "schema": schema if isinstance(schema, str) else json.dumps(schema),
            "schemaType": schema_type,
        }
        if references:
            body["references"] = [
                {"name": name, "subject": of, "version": version}
                for name, of, version in references
            ]
        with self._lock:
            found: int = self._store(subject, body, schema_id)["id"]
            return found

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        """Return the status and the JSON that answer a request."""
        parts = urlsplit(target)
        names = [unquote(each) for each in parts.path.strip("/").split("/")]
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        with self._lock:
            self.requests.append(f"{method} {target}")
            if self.failures:
                status = self.failures.pop(0)
                return status, {"error_code": 50001, "message": "not now"}
            if parts.path in self.answers:
                return 200, self.answers[parts.path]
            try:
                return 200, self._answer(method, names, query, body)
            except _RefusedError as error:
                status, code, text = error.args
                return status, {"error_code": code, "message": text}

    def _answer(self, method: str, names: list[str], query: dict[str, str], body: Any) -> Any:
        match method, names:
            case "GET", ["schemas", "ids", number]:
                return self._by_id(number)
            case "GET", ["schemas", "guids", guid]:
                return self._by_guid(guid)
            case _, ["subjects", *rest]:
                return self._answer_subject(method, rest, query, body)
            case "POST", ["compatibility", "subjects", subject, "versions", version]:
                old = self._version(subject, version)["schema"]
                return {"is_compatible": self.is_compatible(subject, body["schema"], old)}
            case "GET", ["config", *subject]:
                return {"compatibilityLevel": self._level("".join(subject))}
            case "PUT", ["config", *subject]:
                self._levels["".join(subject)] = body["compatibility"]
                return body
        return _refuse((404, 404, "HTTP 404 {}"), query)

    def _answer_subject(
        self, method: str, names: list[str], query: dict[str, str], body: Any
    ) -> Any:
        match method, names:
            case "GET", []:
                return [subject for subject, versions in self._subjects.items() if versions]
            case "POST", [subject, "versions"]:
                self._check(subject, body)
                return self._store(subject, body, None)
            case "POST", [subject]:
                return self._look_up(subject, body)
            case "GET", [subject, "versions"]:
                return sorted(self._versions(subject))
            case "GET", [subject, "versions", version]:
                return self._version(subject, version, deleted=query.get("deleted") == "true")
            case "DELETE", [subject]:
                return self._delete(subject, None, permanent=query.get("permanent") == "true")
            case "DELETE", [subject, "versions", version]:
                number: int = self._version(subject, version, deleted=True)["version"]
                self._delete(subject, number, permanent=query.get("permanent") == "true")
                return number
        return _refuse((404, 404, "HTTP 404 {}"), "/".join(names))

    def _store(self, subject: str, body: dict[str, Any], schema_id: int | None) -> dict[str, Any]:
        schema = _schema(body)
        same = [n for n, each in self._schemas.items() if _content(each) == _content(schema)]
        if schema_id is None:
            schema_id = same[0] if same else max(self._schemas, default=0) + 1
        self._schemas.setdefault(schema_id, schema)
        versions = self._subjects.setdefault(subject, {})
        for version, number in versions.items():
            if number == schema_id:
                return self._registered(subject, version)
        version = max((*versions, *self._deleted.get(subject, ())), default=0) + 1
        versions[version] = schema_id
        return self._registered(subject, version)

    def _check(self, subject: str, body: dict[str, Any]) -> None:
        if body.get("schemaType", "AVRO") != "PROTOBUF" and body["schema"][:1] in ("{", "["):
            try:
                json.loads(body["schema"])
            except ValueError as error:
                _refuse((422, 42201, "Invalid schema: {}"), error)
        versions = self._subjects.get(subject)
        if versions and not any(
            _content(self._schemas[number]) == _content(_schema(body))
            for number in versions.values()
        ):
            old = self._schemas[versions[max(versions)]]["schema"]
            if not self.is_compatible(subject, body["schema"], old):
                _refuse((409, 409, "Schema being registered is incompatible with {}"), subject)

    def _look_up(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        for version, number in self._versions(subject).items():
            if _content(self._schemas[number]) == _content(_schema(body)):
                return self._registered(subject, version)
        return cast("dict[str, Any]", _refuse(_NO_SCHEMA, subject))

    def _by_id(self, number: str) -> dict[str, Any]:
        if not number.isdecimal() or int(number) not in self._schemas:
            _refuse(_NO_SCHEMA, number)
        return self._schemas[int(number)]

    def _by_guid(self, guid: str) -> dict[str, Any]:
        for number, schema in self._schemas.items():
            if schema["guid"] == guid:
                return {**schema, "id": number}
        return cast("dict[str, Any]", _refuse(_NO_SCHEMA, guid))

    def _versions(self, subject: str) -> dict[int, int]:
        if not self._subjects.get(subject):
            _refuse(_NO_SUBJECT, subject)
        return self._subjects[subject]

    def _delete(self, subject: str, version: int | None, *, permanent: bool) -> list[int]:
        active, deleted = self._subjects.get(subject, {}), self._deleted.setdefault(subject, {})
        known = active or (deleted if permanent else {})
        if not known:
            _refuse(_NO_SUBJECT, subject)
        numbers = sorted(known) if version is None else [version]
        for number in numbers:
            found = active.pop(number, None) or deleted.pop(number)
            if not permanent:
                deleted[number] = found
        return numbers

    def _version(self, subject: str, version: str, *, deleted: bool = False) -> dict[str, Any]:
        gone = self._deleted.get(subject, {}) if deleted else {}
        if version.isdecimal() and int(version) in gone:
            return self._described(gone[int(version)], subject, int(version))
        versions = self._versions(subject)
        number = max(versions) if version == "latest" else int(version)
        if number not in versions:
            _refuse(_NO_VERSION, version)
        return self._registered(subject, number)

    def _registered(self, subject: str, version: int) -> dict[str, Any]:
        return self._described(self._subjects[subject][version], subject, version)

    def _described(self, number: int, subject: str, version: int) -> dict[str, Any]:
        return {**self._schemas[number], "subject": subject, "version": version, "id": number}

    def _level(self, subject: str) -> str:
        if subject and subject not in self._levels:
            _refuse((404, 40408, "Subject '{}' does not have a compatibility configured"), subject)
        return self._levels.get(subject, "BACKWARD")


def _schema(body: dict[str, Any]) -> dict[str, Any]:
    schema = {"schema": body["schema"]}
    if body.get("schemaType", "AVRO") != "AVRO":
        schema["schemaType"] = body["schemaType"]
    if body.get("references"):
        schema["references"] = body["references"]
    return {**schema, "guid": str(uuid.uuid5(uuid.NAMESPACE_OID, repr(_content(schema))))}


def _content(schema: dict[str, Any]) -> tuple[object, ...]:
    text: object = schema["schema"]
    if schema.get("schemaType") != "PROTOBUF":
        try:
            content = json.loads(schema["schema"])
        except ValueError:
            content = schema["schema"]  # a bare name, such as string
        if isinstance(content, dict) and content.keys() == {"type"}:
            content = content["type"]  # the same schema, and the registry knows it
        text = json.dumps(content)
    return text, schema.get("schemaType"), json.dumps(schema.get("references"))


def _refuse(refusal: tuple[int, int, str], name: object) -> Any:
    status, code, text = refusal
    raise _RefusedError(status, code, text.format(name))


def _handler(registry: SchemaRegistryServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def _respond(self) -> None:
            size = min(int(self.headers.get("Content-Length") or 0), _MOST_BODY_BYTES)
            body = self.rfile.read(size)
            registry.authorization.append(self.headers["Authorization"])
            status, answer = registry.answer(
                self.command, self.path, json.loads(body) if body else None
            )
            content = json.dumps(answer).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{registry.url}/elsewhere")
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _respond  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    return Handler


__all__ = ["SchemaRegistryServer"]
