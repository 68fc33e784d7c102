"""Named profiles of a file, and `KAFKA_…` of the environment: options that need not be typed.

The file is `aiokafka-lite.toml` in the user's folder of settings:

    profile = "local"                 # the one in use without --profile

    [profiles.local]
    bootstrap.servers = "localhost:9092"

    [profiles.production]
    bootstrap.servers = "kafka-1:9093,kafka-2:9093"
    security.protocol = "SASL_SSL"
    sasl_plain_password = "..."

Names are those of the options, or Java's. No value of the file or the environment is ever shown.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.security_properties import is_security_property
from aiokafka_lite.options.declared_options import declared_options
from aiokafka_lite.secret import Secret

PREFIX: Final = "KAFKA_"


def profile_file() -> Path:
    """Return where the profiles are, such as `~/.config/aiokafka-lite.toml`."""
    # Imported here: most of the command line does without.
    import platformdirs  # noqa: PLC0415

    return platformdirs.user_config_path() / "aiokafka-lite.toml"


def profile_options(name: str | None) -> dict[str, Secret]:
    """Return the options of a profile; without a name, those of the one that the file chooses.

    Without a file and a name there are none.

    Raises: KafkaConfigurationError for a profile that is not there, and for a file that cannot be
    read. None shows a value.
    """
    path = profile_file()
    if not path.exists():
        if name is None:
            return {}
        raise KafkaConfigurationError(f"--profile {name}: there is no file {path}; write one")
    file = _parsed(path)
    profiles = file.get("profiles", {})
    chosen = file.get("profile")
    if name is None and isinstance(chosen, Secret):
        name = chosen.reveal_text()
    if name is None:
        return {}
    if not isinstance(profiles, dict) or not isinstance(profiles.get(name), dict):
        known = ", ".join(profiles) if isinstance(profiles, dict) and profiles else "none"
        raise KafkaConfigurationError(f"{path} has no [profiles.{name}]; it has: {known}")
    return _flat(profiles[name], path, "")


def environment_options(
    environment: Mapping[str, str] = os.environ, config: type = ClientConfig
) -> dict[str, Secret]:
    """Return the options that `KAFKA_…` names, such as KAFKA_SECURITY_PROTOCOL.

    Variables of other programs, such as KAFKA_OPTS, name no option and are left out.
    """
    declared = declared_options(config)
    names = {option.name for option in declared}
    java = {option.java for option in declared if option.java is not None}
    has_jaas = f"{PREFIX}SASL_JAAS_CONFIG" in environment
    found = {}
    for variable, text in environment.items():
        name = variable.removeprefix(PREFIX).lower()
        dotted = name.replace("_", ".")
        if not variable.startswith(PREFIX) or name == "bootstrap_servers":
            continue  # the address is an option of each command, which reads its variable
        is_both = dotted in java and is_security_property(dotted)  # with JAAS it is Java's
        if name in names and dotted != "security.protocol" and not (has_jaas and is_both):
            found[name] = Secret(text)
        elif is_security_property(dotted) or dotted in java:
            found[dotted] = Secret(text)
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        file: dict[str, Any] = _sealed(tomllib.loads(path.read_text("utf-8")))
    except ValueError:  # the text of the error may quote the file
        raise KafkaConfigurationError(
            f"{path} is not TOML in UTF-8; write [profiles.NAME] and lines of name = value"
        ) from None
    return file


def _sealed(value: object) -> Any:
    """Return the value with its texts, numbers and truths as secrets, which no frame shows. What a
    text of an option cannot be becomes its type."""
    if isinstance(value, dict):
        return {name: _sealed(each) for name, each in value.items()}
    if isinstance(value, bool):
        return Secret(str(value).lower())
    return Secret(str(value)) if isinstance(value, str | int | float) else type(value)


def _flat(table: Mapping[str, Any], path: Path, prefix: str) -> dict[str, Secret]:
    """Return {name: text}. TOML reads the dots of a name as tables within tables."""
    found = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found.update(_flat(value, path, f"{prefix}{name}."))
        elif isinstance(value, Secret):
            found[prefix + name] = value
        else:
            raise KafkaConfigurationError(
                f"{path}: {prefix}{name} is of type {value.__name__}; write a text, a number, true"
                " or false"
            )
    return found


__all__ = ["environment_options", "profile_file", "profile_options"]
