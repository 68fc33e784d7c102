"""Resolves references to secrets: `env:NAME` and `file:PATH`.

So plans, command lines and logs contain the reference only. Does not wait.
"""

import os
from pathlib import Path
from typing import Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.local_files import local_file

_ENV: Final = "env:"
_FILE: Final = "file:"


def is_reference(text: str) -> bool:
    """Return whether a text is a reference to a secret."""
    return any(text.startswith(kind) and text != kind for kind in (_ENV, _FILE))


def read_secret(reference: str, *, needed: str = "executors need it, too") -> str:
    """Return the secret; of a file, without the final line end. `needed` tells an error's reader
    which processes read it.

    Raises: KafkaConfigurationError naming the missing variable or file.
    """
    if not is_reference(reference):
        raise KafkaConfigurationError("a secret must be named by env:NAME or file:PATH")
    if reference.startswith(_ENV):
        name = reference.removeprefix(_ENV)
        if name not in os.environ:
            raise KafkaConfigurationError(
                f"the secret {reference} is missing: there is no environment variable {name} here;"
                f" {needed}"
            )
        return os.environ[name]
    path = local_file(f"the secret {reference}", reference.removeprefix(_FILE))
    try:
        return Path(path).read_text().rstrip("\r\n")
    except OSError as error:
        raise KafkaConfigurationError(
            f"the secret {reference} cannot be read: {error.strerror}; {needed}"
        ) from error


__all__ = ["is_reference", "read_secret"]
