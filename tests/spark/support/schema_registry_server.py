"""A schema registry for tests: real HTTP, schemas in memory, and a count of what was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RegistryServer:
    """Schemas by id and subject. `failures` are statuses that the next answers have instead."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.authorization: list[str | None] = []
        self.failures: list[int] = []
        self.url = ""

    def register(
        self, schema_id: int, schema: Any, subject: str = "t-value", version: int = 1, **more: Any
    ) -> None:
        """Add a schema, the newest of its subject from now on."""
        answer = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        self.answers[f"/schemas/ids/{schema_id}"] = answer
        versioned = {**answer, "id": schema_id, "subject": subject, "version": version}
        self.answers[f"/subjects/{subject}/versions/latest"] = versioned
        self.answers[f"/subjects/{subject}/versions/{version}"] = versioned

    def answer(self, path: str) -> tuple[int, bytes]:
        if self.failures:
            return self.failures.pop(0), b'{"error_code": 50001, "message": "not now"}'
        if path not in self.answers:
            return 404, b'{"error_code": 40403, "message": "Schema not found"}'
        return 200, json.dumps(self.answers[path]).encode()


@contextmanager
def serving() -> Iterator[RegistryServer]:
    """Serve a registry at 127.0.0.1."""
    registry = RegistryServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            registry.authorization.append(self.headers["Authorization"])
            status, body = registry.answer(self.path)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{registry.url}/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
