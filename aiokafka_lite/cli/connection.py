"""How a command reaches a cluster: its address, and the options of its clients.

Options come from a profile, `KAFKA_…` of the environment, a file, `-X name=value` and `--security`;
a later one of these replaces an earlier one. The address is that of `-b` or
KAFKA_BOOTSTRAP_SERVERS, otherwise that of `-X`, the file or the profile. A file has the format of
Kafka's own `client.properties`. Passwords belong into a file, because other users of a machine can
read command lines.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_origin

import typer

from aiokafka_lite.cli.client_setting import Settings
from aiokafka_lite.cli.command import DEFAULT_BOOTSTRAP, Bootstrap, exit_codes
from aiokafka_lite.cli.output import warn
from aiokafka_lite.cli.profiles import environment_options, profile_options
from aiokafka_lite.cli.verbosity import Verbose, log_to_stderr
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.properties_file import parse_properties
from aiokafka_lite.java_config.text_options import options_from_text
from aiokafka_lite.options.declared_options import declared_options
from aiokafka_lite.secret import Secret

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config-file",
        "-F",
        envvar="KAFKA_CONFIG_FILE",
        help="A file of options, name=value a line, such as Kafka's client.properties.",
        exists=True,
        dir_okay=False,
    ),
]
SecurityName = Annotated[
    str | None,
    typer.Option("--security", help="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile", envvar="KAFKA_PROFILE", help="A profile of the file aiokafka-lite.toml."
    ),
]


@dataclass(frozen=True, slots=True)
class Connection:
    """The options that a command was given for its clients, as texts that are not shown."""

    bootstrap_servers: str
    file: dict[str, Secret] = field(default_factory=dict, repr=False)
    settings: dict[str, Secret] = field(default_factory=dict, repr=False)

    def options(self, config: type = ClientConfig) -> dict[str, Any]:
        """Return the options that a client with `config` has. Other clients of the command may have
        more, so `check` names those that none has.

        Raises: KafkaConfigurationError with all faults.
        """
        given = merged({"security.protocol": Secret("PLAINTEXT")}, self.file, self.settings)
        found, _ = options_from_text(config, given)
        found["bootstrap_servers"] = self.bootstrap_servers
        return found

    def check(self, config: type) -> None:
        """Warn of names in the file that a client with `config` does not know.

        Raises: KafkaConfigurationError if `-X` has such a name.
        """
        _, unknown = options_from_text(config, self.settings)
        if unknown:
            raise KafkaConfigurationError(
                f"-X {', '.join(unknown)}: no option of this command's client has that name; see"
                " docs/options.md for the names"
            )
        _, ignored = options_from_text(config, self.file)
        if ignored and (unknown := _unknown_to_all(ignored)):
            warn(f"no client has an option of that name, so ignored: {', '.join(unknown)}")


def connection(
    bootstrap_server: Bootstrap = None,
    config_file: ConfigFile = None,
    settings: Settings = None,
    security: SecurityName = None,
    profile: ProfileName = None,
    verbose: Verbose = 0,
    config: type = ClientConfig,
) -> Connection:
    """Return what these options of a command say, checked for a client with `config`."""
    log_to_stderr(verbose)
    with exit_codes():
        file = {} if config_file is None else _read(config_file)
        file = merged(profile_options(profile), environment_options(config=config), file)
        named = {each.name: each.text for each in settings or ()}
        if security is not None:
            named = merged(named, {"security.protocol": Secret(security)})
            named.pop("security_protocol", None)
        for name in ("bootstrap_servers", "bootstrap.servers"):
            told = [given.pop(name, None) for given in (named, file)]
            found_there = next((each.reveal_text() for each in told if each), None)
            bootstrap_server = bootstrap_server or found_there
        found = Connection(bootstrap_server or DEFAULT_BOOTSTRAP, file, named)
        found.check(config)
        return found


def _read(path: Path) -> dict[str, Secret]:
    """Return the options of a file. Raises: KafkaConfigurationError if it is not UTF-8."""
    try:
        content = parse_properties(path.read_text("utf-8"))
    except UnicodeDecodeError:  # which has the content of the file
        raise KafkaConfigurationError(f"{path} is not UTF-8; write it anew in UTF-8") from None
    return {name: Secret(text) for name, text in content.items()}


def merged(*layers: dict[str, Secret]) -> dict[str, Secret]:
    """Return the options of all; a later one replaces an earlier one, and comes behind it."""
    found: dict[str, Secret] = {}
    for layer in layers:
        for name, text in layer.items():
            found.pop(name, None)
            found[name] = text
    return found


def _unknown_to_all(names: list[str]) -> list[str]:
    """Return the names that no client knows. A file may serve several clients."""
    # Imported here: only a name that this command's client does not know needs the others.
    from aiokafka_lite.admin.admin_config import AdminConfig  # noqa: PLC0415
    from aiokafka_lite.consumer.consumer_config import ConsumerConfig  # noqa: PLC0415
    from aiokafka_lite.producer.producer_config import ProducerConfig  # noqa: PLC0415

    known = {
        name
        for config in (AdminConfig, ConsumerConfig, ProducerConfig)
        for option in declared_options(config)
        for name in (option.name, option.java)
    }
    return [name for name in names if name not in known]


def connected(
    config: type = ClientConfig,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `connection`. What they say is its argument `client`."""
    return joined("client", functools.partial(connection, config=config))


def joined(
    name: str, make: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that `make` has. Its argument `name` is what `make` returns."""
    options_of_make = [
        each
        for each in inspect.signature(make).parameters.values()
        if get_origin(each.annotation) is Annotated
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_options(**given: Any) -> None:
            told = {each.name: given.pop(each.name) for each in options_of_make}
            command(**given, **{name: make(**told)})

        named = inspect.signature(command).parameters.values()
        own = [each for each in named if each.name != name]
        # Typer makes the options of a command from its signature.
        every = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own, *options_of_make)]
        with_options.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        return with_options

    return decorate


__all__ = [
    "ConfigFile",
    "Connection",
    "ProfileName",
    "SecurityName",
    "connected",
    "connection",
    "joined",
    "merged",
]
