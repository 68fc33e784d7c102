"""Owns secrets that are named and not written: `env:NAME` and `file:PATH`, read where they are
used, so that no plan and no pickle has them. Plain.
"""

import os
from pathlib import Path
from typing import Final

from aiokafka_lite.errors import KafkaConfigurationError

_ENV: Final = "env:"
_FILE: Final = "file:"


def is_reference(text: str) -> bool:
    """Whether a text names a secret."""
    return any(text.startswith(kind) and text != kind for kind in (_ENV, _FILE))


def read_secret(reference: str) -> str:
    """Return the secret, of a file without the end of its last line.

    Raises KafkaConfigurationError naming the variable or the file that is not there.
    """
    if not is_reference(reference):
        raise KafkaConfigurationError("a secret must be named by env:NAME or file:PATH")
    if reference.startswith(_ENV):
        name = reference.removeprefix(_ENV)
        if name not in os.environ:
            raise KafkaConfigurationError(
                f"the secret {reference} is missing: there is no environment variable {name} here;"
                " executors need it, too"
            )
        return os.environ[name]
    path = Path(reference.removeprefix(_FILE))
    try:
        return path.read_text().rstrip("\r\n")
    except OSError as error:
        raise KafkaConfigurationError(
            f"the secret {reference} cannot be read: {error.strerror}; executors need it, too"
        ) from error


__all__ = ["is_reference", "read_secret"]
