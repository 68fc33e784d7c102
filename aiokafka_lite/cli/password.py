"""A password for a command: from standard input, `env:NAME` or `file:PATH`.

A password among the words of a command line stands in the shell's history, and other users of the
machine can read it. So a command takes a reference only.
"""

import getpass
import os
import sys
from pathlib import Path

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.secret import Secret

STDIN = "-"


def read_password(source: str) -> Secret:
    """Return the password; of a file or of standard input, the first line.

    On a terminal it is asked for twice, and not shown.
    Raises: KafkaConfigurationError for an empty password, for two that differ, for a variable or
    file that is missing, and for another source.
    """
    kind, _, name = source.partition(":")
    if source == STDIN:
        text = _asked() if sys.stdin.isatty() else sys.stdin.readline()
    elif kind == "env":
        text = os.environ.get(name, "")
    elif kind == "file":
        text = _first_line(name)
    else:
        raise KafkaConfigurationError(
            "--password takes - (standard input), env:NAME or file:PATH: others could read a"
            " password in the command line"
        )
    text = text.rstrip("\r\n")
    if not text:
        raise KafkaConfigurationError(f"--password {source}: there is no password; give one there")
    return Secret(text)


def _asked() -> str:
    first = getpass.getpass("Password: ")
    if getpass.getpass("The same again: ") != first:
        raise KafkaConfigurationError("the two passwords differ; begin again")
    return first


def _first_line(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.readline()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise KafkaConfigurationError(
            f"--password file:{path} cannot be read: {reason}"
        ) from None  # the decoder's error would show the bytes


__all__ = ["STDIN", "read_password"]
