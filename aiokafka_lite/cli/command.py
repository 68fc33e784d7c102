"""The common parts of all commands: the address option, running a coroutine, and one-line errors.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 ended by SIGTERM (129 by SIGHUP).
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cli.output import OutputFormat, complain
from aiokafka_lite.cli.stop_signals import StoppedBySignalError, stopped_by_signals
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.kafka_error import reason_of

T = TypeVar("T")

logger = logging.getLogger(__name__)

Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        "-b",
        envvar="KAFKA_BOOTSTRAP_SERVERS",
        help="Brokers to start from, host:port, separated by commas; else localhost:9092.",
    ),
]
Output = Annotated[OutputFormat, typer.Option("--output", help="A table or JSON.")]
DEFAULT_BOOTSTRAP = "localhost:9092"
STOPPED_BY_A_SIGNAL = 128
"""A larger exit code is this and the number of the signal."""


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn an error of Kafka or of the system into one line on stderr and exit code 1, a wrong
    value into exit code 2. A closed pipe behind stdout ends the command without a line.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except ValueError as error:  # wrong options, too: KafkaConfigurationError is one
        logger.debug("the command failed", exc_info=True)
        complain(reason_of(error))
        raise typer.Exit(2) from error
    except (KafkaError, OSError) as error:  # TimeoutError is an OSError
        logger.debug("the command failed", exc_info=True)
        complain(reason_of(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(130) from error
    except StoppedBySignalError as error:
        raise typer.Exit(error.exit_code) from error
    except ExceptionGroup as group:
        complain("; ".join(dict.fromkeys(reason_of(error) for error in leaves(group))))
        raise typer.Exit(1) from group


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on a new event loop. Its errors end the command as in `exit_codes`.

    SIGINT, SIGTERM and SIGHUP cancel `work`, and the command ends when its clients have stopped.
    """
    with exit_codes():
        return asyncio.run(stopped_by_signals(work))


def fail_with(failed: Mapping[Any, KafkaError]) -> None:
    """Print the error of each part that failed; then end the command with exit code 1."""
    for reason in dict.fromkeys(reason_of(error) for error in failed.values()):
        complain(reason)
    if failed:
        raise typer.Exit(1)


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """Return the single errors inside a task group's error, in order."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found.extend(leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    return found


def pairs_of(texts: list[str] | None) -> list[tuple[str, str]]:
    """Return key=value pairs in their order; a key may repeat. A text without `=` is a usage
    error.
    """
    found = []
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{quoted(text)} is not of the form key=value")
        found.append((key, value))
    return found


def options(texts: list[str] | None) -> dict[str, str]:
    """Return key=value pairs as settings. A key with two values is a usage error."""
    named: dict[str, str] = {}
    for key, value in pairs_of(texts):
        if named.setdefault(key, value) != value:
            raise typer.BadParameter(f"{quoted(key)} has two values; give it once")
    return named


__all__ = [
    "DEFAULT_BOOTSTRAP",
    "STOPPED_BY_A_SIGNAL",
    "Bootstrap",
    "Output",
    "exit_codes",
    "fail_with",
    "leaves",
    "options",
    "pairs_of",
    "run",
]
