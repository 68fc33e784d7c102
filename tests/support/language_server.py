"""Asks Pyright's language server which text an editor shows for a name in a program."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tests.support.documents import ROOT

SETTINGS: Final = {"pythonPath": sys.executable, "analysis": {"extraPaths": [str(ROOT)]}}


class LanguageServer:
    """A running server, which gets one request after the other."""

    def __init__(self, to_server: IO[bytes], from_server: IO[bytes]) -> None:
        self._to_server = to_server
        self._from_server = from_server
        self._asked = 0

    def ask(self, method: str, params: Any) -> Any:
        """Return the result of a request. Requests of the server meanwhile are answered."""
        self._asked += 1
        self._write({"id": self._asked, "method": method, "params": params})
        while True:
            message = self._read()
            if "method" not in message and message["id"] == self._asked:
                return message["result"]
            if "method" in message and "id" in message:
                asks_settings = message["method"] == "workspace/configuration"
                items = message["params"]["items"] if asks_settings else ()
                found = [SETTINGS for _ in items] if asks_settings else None
                self._write({"id": message["id"], "result": found})

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._write({"method": method, "params": params})

    def _write(self, message: Mapping[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to_server.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
        self._to_server.flush()

    def _read(self) -> Any:
        size = 0
        while line := self._from_server.readline().strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        return json.loads(self._from_server.read(size))

    def hover(self, program: Path, name: str) -> str:
        """Return the text that an editor shows for the first `name` in a program."""
        text = program.read_text(encoding="utf-8")
        before = text[: text.index(name)]
        position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        document = {"uri": program.as_uri()}
        shown = self.ask("textDocument/hover", {"textDocument": document, "position": position})
        return str(shown["contents"]["value"])


@contextmanager
def language_server(program: Path) -> Iterator[LanguageServer]:
    """Run a server that has a program open."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pyright.langserver", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:  # at the end this closes the pipes and waits for the process
        server = LanguageServer(process.stdin, process.stdout)
        folder = {"uri": program.parent.as_uri(), "name": program.parent.name}
        server.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": {
                    "workspace": {"configuration": True},
                    "textDocument": {"hover": {"contentFormat": ["plaintext"]}},
                },
            },
        )
        server.tell("initialized", {})
        document = {"languageId": "python", "version": 1, "text": program.read_text("utf-8")}
        server.tell("textDocument/didOpen", {"textDocument": {"uri": program.as_uri(), **document}})
        try:
            yield server
        finally:
            server.ask("shutdown", None)
            server.tell("exit", None)
