"""Where the embedded broker may answer otherwise than Apache Kafka, each with its reason."""

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final


@dataclass(frozen=True)
class Row:
    """Differences that one reason allows; each part is a pattern as of file names."""

    case: str
    path: str
    reason: str
    step: str = "*"
    version: str = "*"
    kafka: str = "*"
    """What Kafka said, as JSON."""

    def fits_case(self, name: str) -> bool:
        """Return whether the row is about this case."""
        return fnmatchcase(name, self.case)


ALLOWED: Final[tuple[Row, ...]] = (
    Row(
        "*",
        "*error_message",
        "Kafka has no text for most errors, and the embedded broker tells tests what is wrong",
        kafka="null",
    ),
    *(
        Row(
            case,
            f"*.{field}",
            "the embedded broker keeps 256 MiB of a partition, and says so in log.retention.bytes",
            kafka=kafka,
        )
        for case, field, kafka in (
            ("describe a topic", "value", '"-1"'),
            ("describe a topic", "config_source", "5"),
            ("create *", "value", '"-1"'),
            ("create *", "config_source", "5"),
            ("alter topic retention.bytes*", "synonyms*", "*"),
        )
    ),
    Row(
        "alter topic min.insync.replicas*",
        "*.synonyms",
        "the properties of the recorded broker name it, those of the embedded one do not",
        step="described",
    ),
)


def row_of(case: str, step: str, version: str, path: str, kafka: Any) -> Row | None:
    """Return the row that allows a difference; None if it is not allowed."""
    for row in ALLOWED:
        if (
            row.fits_case(case)
            and fnmatchcase(step, row.step)
            and fnmatchcase(version, row.version)
            and fnmatchcase(path, row.path)
            and fnmatchcase(json.dumps(kafka), row.kafka)
        ):
            return row
    return None


__all__ = ["ALLOWED", "Row", "row_of"]
