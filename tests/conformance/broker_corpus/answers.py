"""What real Kafkas have answered to the corpus: the files beside this one, and how they are read.

Answers that are the same in several versions stand once, under all of these versions.
"""

import json
from pathlib import Path
from typing import Any, Final

RELEASES: Final = ("4.4.0", "3.9.2")
"""The first has all answers, the others have those in which they differ from it."""
SAME: Final = "="
"""Stands for the answer of the first release."""


def path_of(release: str) -> Path:
    """Return the file of a release."""
    return Path(__file__).with_name(f"kafka-{release}.json")


def read(release: str) -> dict[str, Any]:
    """Return the answers of a release: its name, the day, and those of each row."""
    path = path_of(release)
    if not path.exists():
        return {"cases": {}}
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told


def whole(release: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the answers of a release: row -> step -> version -> answer."""
    cases: dict[str, dict[str, dict[str, Any]]] = {
        name: {step: by_version(answers) for step, answers in steps.items()}
        for name, steps in read(release)["cases"].items()
    }
    if release == RELEASES[0]:
        return cases
    first = whole(RELEASES[0])
    return {
        name: {
            step: {v: first[name][step][v] if a == SAME else a for v, a in answers.items()}
            for step, answers in steps.items()
        }
        for name, steps in cases.items()
    }


def besides(cases: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """Return answers, in the form of `shortened`, with SAME for those of the first release."""
    return {name: _besides(steps, first.get(name, {})) for name, steps in cases.items()}


def _besides(steps: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    told = {}
    for step, answers in steps.items():
        known = by_version(first.get(step, {}))
        told[step] = _merged(
            {
                version: SAME if version in known and known[version] == answer else answer
                for version, answer in by_version(answers).items()
            }
        )
    return told


def shortened(steps: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return step -> "versions" -> answer, from step -> version -> answer."""
    return {step: _merged(answers) for step, answers in steps.items()}


def _merged(answers: dict[str, Any]) -> dict[str, Any]:
    same: dict[str, list[str]] = {}
    for version, answer in answers.items():
        same.setdefault(json.dumps(answer), []).append(version)
    return {",".join(versions): json.loads(text) for text, versions in same.items()}


def by_version(answers: dict[str, Any]) -> dict[str, Any]:
    """Undo `shortened` for one step."""
    return {each: answer for versions, answer in answers.items() for each in versions.split(",")}


__all__ = ["RELEASES", "besides", "by_version", "path_of", "read", "shortened", "whole"]
