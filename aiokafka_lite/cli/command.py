"""The common parts of all commands: the address option, running a coroutine, and one-line errors.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer

from aiokafka_lite.cli.output import complain
from aiokafka_lite.errors import KafkaConfigurationError, KafkaError
from aiokafka_lite.kafka_error import reason_of

T = TypeVar("T")

Bootstrap = Annotated[
    str,
    typer.Option(
        "--bootstrap-server",
        "-b",
        envvar="KAFKA_BOOTSTRAP_SERVERS",
        help="Brokers to start from, host:port, separated by commas.",
    ),
]
DEFAULT_BOOTSTRAP = "localhost:9092"


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn a Kafka error into one line on stderr and exit code 1, a bad option into exit code 2."""
    try:
        yield
    except KafkaConfigurationError as error:
        complain(reason_of(error))
        raise typer.Exit(2) from error
    except (KafkaError, TimeoutError) as error:
        complain(reason_of(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(130) from error
    except ExceptionGroup as group:
        complain("; ".join(reason_of(error) for error in leaves(group)))
        raise typer.Exit(1) from group


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on a new event loop. Its errors end the command as in `exit_codes`."""
    with exit_codes():
        return asyncio.run(work)


def leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """Return the single errors inside a task group's error, in order."""
    found: list[BaseException] = []
    for error in group.exceptions:
        found.extend(leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    return found


def options(pairs: list[str] | None) -> dict[str, str]:
    """Return `-X key=value` pairs as a dictionary. A pair without `=` is a usage error."""
    named = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{pair!r} is not of the form key=value")
        named[key] = value
    return named


__all__ = ["DEFAULT_BOOTSTRAP", "Bootstrap", "exit_codes", "leaves", "options", "run"]
