"""Our declarations against Apache's own message JSON, both ways.

The JSON is read out of the kafka-clients jar of the release we claim. Ours may declare fewer APIs
and a narrower version range; inside that range every struct, field, type, version, nullability,
tag, default and `ignorable` must agree, and no field may be missing or made up.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.api_registry import API_BY_KEY
from aiokafka_lite.schema.field_types import ZERO_UUID, ArrayOf, Primitive
from aiokafka_lite.schema.message import ApiMessage
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.schema.versioned_struct import Struct, StructField, fields_of

MESSAGES = [side for api in API_BY_KEY.values() for side in (api.request, api.response)]


@pytest.fixture(scope="session")
def apache_messages(kafka_clients_jar: Path) -> dict[str, dict[str, Any]]:
    """Message name -> its JSON; the files carry `//` comments, which JSON does not know."""
    found = {}
    with zipfile.ZipFile(kafka_clients_jar) as jar:
        for entry in jar.namelist():
            if re.fullmatch(r"common/message/\w+\.json", entry):
                text = re.sub(r"^\s*//.*$", "", jar.read(entry).decode(), flags=re.MULTILINE)
                message = json.loads(text)
                found[message["name"]] = message
    return found


@pytest.mark.parametrize("ours", MESSAGES, ids=lambda cls: cls.__name__)
def test_declaration_agrees_with_apache(
    ours: type[ApiMessage], apache_messages: dict[str, dict[str, Any]]
) -> None:
    theirs = apache_messages[ours.__name__]
    assert list(message_differences(ours, theirs)) == []


def test_every_api_key_of_the_release_has_its_name(
    apache_messages: dict[str, dict[str, Any]],
) -> None:
    theirs = {
        message["apiKey"]: snake_case(name.removesuffix("Request")).upper()
        for name, message in apache_messages.items()
        if message["type"] == "request"
    }
    assert {key.value: key.name for key in ApiKey} == theirs


def message_differences(ours: type[ApiMessage], theirs: dict[str, Any]) -> Iterator[str]:
    name = ours.__name__
    if ours.api_key != theirs["apiKey"]:
        yield f"{name}: api key {ours.api_key}, Apache has {theirs['apiKey']}"
    valid = VersionRange.parse(theirs["validVersions"])
    if ours.versions & valid != ours.versions:
        yield f"{name}: versions {ours.versions} are not within Apache's {valid}"
    flexible = VersionRange.parse(theirs["flexibleVersions"])
    for version in range(ours.versions.min, ours.versions.max + 1):
        if (version in ours.flexible) != (version in flexible):
            yield f"{name}: v{version}: flexible in {ours.flexible} here, {flexible} at Apache"
    common = {struct["name"]: struct["fields"] for struct in theirs.get("commonStructs", ())}
    yield from struct_differences(name, ours, theirs["fields"], common, ours.versions)


def struct_differences(
    path: str,
    ours: type[Struct],
    their_fields: list[dict[str, Any]],
    common: dict[str, list[dict[str, Any]]],
    span: VersionRange,
) -> Iterator[str]:
    """Differences in the versions of `span`: those in which the struct can occur."""
    theirs = {
        snake_case(field["name"]): field
        for field in their_fields
        if VersionRange.parse(field["versions"]) & span
    }
    mine = {field.name: field for field in fields_of(ours) if field.versions & span}
    for name in theirs.keys() - mine.keys():
        yield f"{path}.{name}: missing here"
    for name in mine.keys() - theirs.keys():
        yield f"{path}.{name}: not in Apache's message"
    in_both = [name for name in theirs if name in mine]
    if [name for name in mine if name in theirs] != in_both:
        yield f"{path}: fields are in another order than {in_both}"
    for name in in_both:
        yield from field_differences(f"{path}.{name}", mine[name], theirs[name], common, span)


def field_differences(
    path: str,
    mine: StructField,
    theirs: dict[str, Any],
    common: dict[str, list[dict[str, Any]]],
    span: VersionRange,
) -> Iterator[str]:
    their_versions = VersionRange.parse(theirs["versions"])
    compared = {
        "type": (type_name(mine.type), theirs["type"]),
        "versions": (mine.versions & span, their_versions & span),
        "nullableVersions": (
            mine.nullable & span or VersionRange.NONE,
            VersionRange.parse(theirs.get("nullableVersions", "none")) & their_versions & span
            or VersionRange.NONE,
        ),
        "tag": (mine.tag, theirs.get("tag")),
        "taggedVersions": (
            mine.tagged & span or VersionRange.NONE,
            VersionRange.parse(theirs.get("taggedVersions", "none")) & span or VersionRange.NONE,
        ),
        "default": (our_default(mine), their_default(theirs)),
        "ignorable": (mine.ignorable, theirs.get("ignorable", False)),
        "flexibleVersions": (
            None if mine.flexible is None else str(mine.flexible),
            theirs.get("flexibleVersions"),
        ),
    }
    for fact, (here, there) in compared.items():
        if here != there:
            yield f"{path}: {fact} is {here} here, {there} at Apache"
    element = mine.type.element if isinstance(mine.type, ArrayOf) else mine.type
    if not isinstance(element, Primitive):
        inner = theirs.get("fields") or common.get(element.__name__, [])
        yield from struct_differences(path, element, inner, common, their_versions & span)


def type_name(kind: Any) -> str:
    if isinstance(kind, ArrayOf):
        return f"[]{type_name(kind.element)}"
    return kind.name if isinstance(kind, Primitive) else kind.__name__


def our_default(field: StructField) -> Any:
    if field.has_list_default:
        return "empty"
    if not isinstance(field.type, Primitive | ArrayOf) and field.default is not None:
        return "struct of defaults"
    return field.default


def their_default(field: dict[str, Any]) -> Any:
    """The default as Apache's generator reads it: null, a literal, or the type's zero."""
    kind, default = field["type"], field.get("default", "")
    if default == "null":
        return None
    if kind.startswith("[]"):
        return "empty"
    if kind[0].isupper():
        return "struct of defaults"
    if kind == "bool":
        return str(default).lower() == "true"
    if kind == "string":
        return default
    zeros = {"bytes": b"", "records": None, "uuid": ZERO_UUID, "float64": 0.0}
    if kind in zeros:
        assert default == "", f"unexpected default of {field['name']}"
        return zeros[kind]
    return int(str(default) or "0", 0)


def snake_case(name: str) -> str:
    spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


# The comparison itself must not be blind…


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"type": "string"}, "MetadataRequest.allow_auto_topic_creation: type is bool here"),
        ({"versions": "5+"}, "MetadataRequest.allow_auto_topic_creation: versions is 4-13 here"),
        ({"default": "false"}, "MetadataRequest.allow_auto_topic_creation: default is True here"),
        ({"ignorable": True}, "MetadataRequest.allow_auto_topic_creation: ignorable is False"),
        ({"nullableVersions": "4+"}, "allow_auto_topic_creation: nullableVersions is none here"),
        ({"tag": 0, "taggedVersions": "9+"}, "allow_auto_topic_creation: tag is None here"),
        ({"name": "AllowCreation"}, "MetadataRequest.allow_creation: missing here"),
    ],
)
def test_a_difference_is_reported_with_the_path_of_its_field(
    change: dict[str, Any], reported: str, apache_messages: dict[str, dict[str, Any]]
) -> None:
    theirs = json.loads(json.dumps(apache_messages["MetadataRequest"]))
    theirs["fields"][1].update(change)
    ours = API_BY_KEY[ApiKey.METADATA].request
    assert any(reported in line for line in message_differences(ours, theirs))


def test_a_difference_deep_inside_is_reported_with_its_whole_path(
    apache_messages: dict[str, dict[str, Any]],
) -> None:
    theirs = json.loads(json.dumps(apache_messages["FetchRequest"]))
    topics = next(field for field in theirs["fields"] if field["name"] == "Topics")
    del topics["fields"][2]["fields"][0]
    ours = API_BY_KEY[ApiKey.FETCH].request
    assert list(message_differences(ours, theirs)) == [
        "FetchRequest.topics.partitions.partition: not in Apache's message"
    ]
