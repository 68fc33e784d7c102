"""The public errors that are not in `aiokafka_lite.errors`, for the page of errors of the site.

They are read from the sources, because some of their modules need PySpark.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PACKAGE: Final = Path(__file__).parents[1] / "aiokafka_lite"
INSIDE: Final = (
    "BytesLeftOverError",
    "CloseConnectionError",
    "DatasetError",
    "JoinRefusedError",
    "LoginRefusedError",
    "RecordsRefusedError",
    "SaslFormatError",
    "StoppedBySignalError",
    "TopicError",
    "TrailingBytesError",
    "TransactionError",
)
"""What no program sees, because another part catches it, and values that are no errors."""

REMEDIES: Final = {
    "DataLossError": "Set `failOnDataLoss=false` to go on without these records.",
    "FinalError": "Mend what the first attempt of the task has met; its text names it.",
    "IncompatibleSchemaError": "Change the schema, or the subject's compatibility.",
    "InvalidSchemaError": "Mend the schema at the place that the text names.",
    "JavaNotFoundError": "Install Java 17, or set `JAVA_HOME`.",
    "JobConfigError": "Change the settings that its `faults` name.",
    "JobFailedError": "Read its `result`. A job that starts again goes on where it was.",
    "LeftBehindError": "Stop the clients and await the tasks that its text names.",
    "NotAllowedError": "Under the name `aiokafka`: change the call. The same call fails again.",
    "NotPreparedError": "`await serializer.prepare(topic)` first, or use `send` in place of "
    "`send_nowait`.",
    "RegistryAuthorizationError": "Check `username` and `password` or `bearer_token`, and the "
    "rights of their owner.",
    "RegistryUnavailableError": "Check the addresses of the registry. The clients ask again.",
    "ReplayMismatchError": "Make the query deterministic, or give it a new checkpoint and "
    "`transactionalIdPrefix`; see [Spark](spark.md).",
    "SchemaMismatchError": "Use the deserializer of the schema's type.",
    "SchemaRegistryError": "Read the `status` and text of the registry.",
    "StuckError": "Look at the tasks that its text names, or raise `max_time_s` or `max_turns`.",
    "TransactionLostError": "Start the query again: it writes the batch once more.",
    "UnknownSchemaError": "Check the subject or id, or let the serializer register the schema.",
    "WireFormatError": "Check that the topic was written with a schema registry. Seek past it.",
}
"""Class -> what to do."""


class OtherError(NamedTuple):
    """An error class: its name, the module to import it from, and its first sentences."""

    name: str
    module: str
    meaning: str


def other_errors(known: set[str]) -> list[OtherError]:
    """Return the public errors of the package whose names are not in `known`, by name."""
    found = (each for path in PACKAGE.rglob("*.py") for each in _errors_of(path))
    return sorted(each for each in found if each.name not in known)


def _errors_of(path: Path) -> Iterator[OtherError]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or not node.name.endswith("Error"):
            continue
        if node.name.startswith("_") or node.name in INSIDE or not node.bases:
            continue
        meaning = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        yield OtherError(node.name, _module_of(path, node.name), meaning)


def _module_of(path: Path, name: str) -> str:
    """Return the package above that offers the name, or the module that defines it."""
    if path.name == "virtual_loop.py":
        return "aiokafka_lite.testing.virtual_kafka"
    within = path.relative_to(PACKAGE.parent).with_suffix("").parts
    above = path.parent / "__init__.py"
    offered = f'"{name}"' in above.read_text(encoding="utf-8") if above.exists() else False
    return ".".join(within[:-1] if offered else within)


__all__ = ["INSIDE", "REMEDIES", "OtherError", "other_errors"]
