"""A hook of mkdocs: it adds to the site what stands outside of `docs/`, and turns links to it.

README, CONTRIBUTING, DESIGN, CHANGELOG, the page of the benchmarks and the examples become pages.
The page of errors is made from their classes, the map of files from their heads. A link to another
file of the repository becomes plain text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from aiokafka_lite import errors
from aiokafka_lite.kafka_error import ErrorFacts, Fault
from tools.error_remedies import remedy_of
from tools.file_map import file_map
from tools.other_errors import REMEDIES as OTHER_REMEDIES
from tools.other_errors import other_errors

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "DESIGN.md": "inside.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/speed.svg": "speed.svg",
}
"""Path in the repository -> address in the site."""

WIDE_TABLES: Final = ("errors.md", "options.md")

FAULTS: Final = {
    Fault.USER: "Change the call, the option or the rights. The same call fails again.",
    Fault.CLUSTER: "Look at the brokers. It often passes by itself.",
    Fault.NETWORK: "Look at the network, addresses and firewalls.",
    Fault.LIBRARY: "A peer broke the protocol, or this is a bug: please report it.",
}
_LINK: Final = re.compile(r"(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"^```", re.MULTILINE)
_CODE: Final = re.compile(r"`[^`\n]+`")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the examples to the contents."""
    shown: list[Any] = config.nav or []
    shown.insert(-2, {"Examples": [f"examples/{path.stem}.md" for path in _examples()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in `docs/`."""
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, content=(ROOT / path).read_text()))
    for example in _examples():
        text = f"# {example.name}\n\n```python\n{example.read_text()}```\n"
        files.append(File.generated(config, f"examples/{example.stem}.md", content=text))
    files.append(File.generated(config, "errors.md", content=errors_page()))
    files.append(File.generated(config, "files.md", content=file_map()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn the links of a page, outside of its code, to the addresses of the site."""
    uri = page.file.src_uri
    if uri in WIDE_TABLES:
        page.meta["hide"] = ["toc"]  # its column goes to the table
    if uri == "errors.md" or uri.startswith("examples/"):
        return markdown
    parts = _FENCE.split(markdown)  # each second part is code
    parts[::2] = [unescaped(turned(part, uri)) for part in parts[::2]]
    return "```".join(parts)


def unescaped(text: str) -> str:
    """Return the text of a page without the backslashes that GitHub needs before a bar in code
    within a table. Python-Markdown would show them.
    """
    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), text)


def turned(text: str, uri: str) -> str:
    """Return the text of a page, with the links of the repository turned to those of the site."""
    at_home = {site: path for path, site in PAGES.items()}
    here = (ROOT / at_home.get(uri, f"docs/{uri}")).parent

    def turn(link: re.Match[str]) -> str:
        mark, shown, target, anchor = link[1], link[2], link[3], link[4] or ""
        if not target or "://" in target:
            return link[0]
        path = (here / target).resolve()
        if not path.exists():
            return link[0]  # the strict build tells it
        site = _site_address(path)
        if site is None:
            return shown
        return f"{mark}[{shown}]({get_relative_url(site, uri)}{anchor})"

    return _LINK.sub(turn, text)


def _site_address(path: Path) -> str | None:
    """Return the address of a file of the repository in the site; None if it is not there."""
    known = PAGES.get(path.relative_to(ROOT).as_posix())
    if known is not None:
        return known
    if path in _examples():
        return f"examples/{path.stem}.md"
    if path.is_relative_to(ROOT / "docs") and path.is_file():
        return path.relative_to(ROOT / "docs").as_posix()
    return None


def _examples() -> list[Path]:
    return sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "__init__")


def errors_page() -> str:
    """Return the page of all errors: what each means, and the first place to look."""
    lines = [
        "# Errors",
        "",
        "The errors of Kafka and of the clients can be imported from `aiokafka_lite.errors`. All",
        "but a few are a `KafkaError`, so `except KafkaError` catches them. The text of an error",
        "names the value, the limit and the remedy. The [last table](#other-modules) has errors of",
        "other modules. Each class states four facts:",
        "",
        "| fact | meaning |",
        "|---|---|",
        "| `retriable` | the same request may succeed later; the clients retry by themselves |",
        "| `fatal` | the producer or group member cannot go on; a new one may |",
        "| `invalid_metadata` | the clients ask for fresh metadata before they retry |",
        "| `fault` | the party at fault, as in the sections below |",
        "",
    ]
    for fault, remedy in FAULTS.items():
        lines += [f"## {fault.value.capitalize()}", "", remedy, ""]
        lines += ["| error | code | meaning | what to do | |", "|---|---|---|---|---|"]
        lines += [_row(kind) for kind in _errors() if kind.fault is fault]
        lines.append("")
    lines += ["## Other names", "", "aiokafka, or Kafka, has these names for the same classes.", ""]
    lines += ["| name | the same as |", "|---|---|"]
    lines += [f"| `{name}` | `{kind.__name__}` |" for name, kind in _aliases()]
    lines += ["", "## Other modules", "", "| error | import from | meaning | what to do |"]
    lines.append("|---|---|---|---|")
    for name, module, meaning in other_errors(set(errors.__all__)):
        lines.append(f"| `{name}` | `{module}` | {meaning} | {OTHER_REMEDIES[name]} |")
    return "\n".join([*lines, ""])


def _aliases() -> Iterator[tuple[str, Any]]:
    for name in sorted(errors.__all__):
        kind: Any = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__name__ != name:
            yield name, kind


def _errors() -> Iterator[Any]:
    for name in sorted(errors.__all__):
        kind: Any = getattr(errors, name)
        is_error = isinstance(kind, type) and issubclass(kind, Exception)
        if is_error and issubclass(kind, ErrorFacts) and kind.__name__ == name:
            yield kind


def _row(kind: Any) -> str:
    code = getattr(kind, "errno", "") if "errno" in vars(kind) else ""
    first = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    facts = ", ".join(fact for fact in ("retriable", "fatal") if getattr(kind, fact))
    return f"| `{kind.__name__}` | {code} | {first} | {remedy_of(kind)} | {facts} |"


__all__ = ["errors_page", "on_config", "on_files", "on_page_markdown", "turned", "unescaped"]
