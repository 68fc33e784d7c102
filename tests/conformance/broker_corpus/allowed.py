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
    release: str = "4.4.0"
    """The release that said it."""

    def fits_case(self, name: str) -> bool:
        """Return whether the row is about this case."""
        return fnmatchcase(name, self.case)


_SETTINGS: Final = "the embedded broker has the settings of 4.4, and their bounds and defaults"
_FEATURES: Final = "the embedded broker has the features of 4.4; groups of KIP-848 can be off"
_COORDINATOR: Final = "the embedded broker has the group coordinator of 4.x, 3.9 has the one before"
_OF_39: Final = (
    ("with , *", "*", _SETTINGS),  # 4.0 began to refuse times of more than an hour to come
    ("create *", ".topics.*.configs*", _SETTINGS),
    ("describe a topic", ".results.0.configs*", _SETTINGS),
    ("describe a group", ".results.0.*", _SETTINGS),
    ("describe a subscription of metrics", ".results.0.configs*", _SETTINGS),
    ("describe all brokers", ".results.0.configs*", _SETTINGS),
    ("describe some settings of broker 1", ".results.0.configs*", _SETTINGS),
    ("alter topic *", "*", _SETTINGS),
    ("alter group *", "*", _SETTINGS),
    ("alter broker min.insync.replicas=*", ".responses.0.error_code", _SETTINGS),
    ("alter broker errors.deadletterqueue.*", "*", _SETTINGS),
    ("alter *metrics*", ".results.0.configs*", _SETTINGS),
    ("describe a group with rights", ".groups.0.authorized_operations", _SETTINGS),
    ("api versions*", "*_features*", _FEATURES),
    ("update a*feature*", "*", _FEATURES),
    ("commit of a member in no group", "*.error_code", _COORDINATOR),
    ("commit in a transaction as a member that is none", "*.error_code", _COORDINATOR),
)
ALLOWED: Final[tuple[Row, ...]] = (
    Row(
        "*",
        "*error_message",
        "Kafka has no text for most errors, and the embedded broker tells tests what is wrong",
        kafka="null",
        release="*",
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
    *(Row(case, path, reason, release="3.9.2") for case, path, reason in _OF_39),
)


def row_of(release: str, case: str, step: str, version: str, path: str, kafka: Any) -> Row | None:
    """Return the row that allows a difference; None if it is not allowed."""
    for row in ALLOWED:
        if (
            fnmatchcase(release, row.release)
            and row.fits_case(case)
            and fnmatchcase(step, row.step)
            and fnmatchcase(version, row.version)
            and fnmatchcase(path, row.path)
            and fnmatchcase(json.dumps(kafka), row.kafka)
        ):
            return row
    return None


__all__ = ["ALLOWED", "Row", "row_of"]
