"""The same requests about ACLs, quotas, SCRAM users and delegation tokens, for any broker.

Times, ids and HMACs differ from broker to broker, so they are compared by their form.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from aiokafka_lite.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from aiokafka_lite.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from aiokafka_lite.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from aiokafka_lite.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from aiokafka_lite.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
)
from aiokafka_lite.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from aiokafka_lite.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from aiokafka_lite.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.schema.versioned_struct import Struct
from tests.testing.broker.bench import WireClient

PASSWORDS = {"alice": "secret", "bob": "secret"}
"""alice may do everything, bob nothing."""
SETTLED_S = 5.0


def rule(**changes: Any) -> AclCreation:
    """A rule that everybody may store, with changes."""
    terms: dict[str, Any] = {
        "resource_type": 2,
        "resource_name": "t",
        "principal": "User:carol",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    return AclCreation(**terms | changes)


def find(**changes: Any) -> dict[str, Any]:
    """The fields of a filter for all rules, with changes."""
    return {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": 1,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    } | changes


def quota(entity: dict[str, str | None], **values: float | None) -> EntryData:
    """Changes of one entity; None removes."""
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )


def component(kind: str, match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type=kind, match_type=match_type, match=match)


def password(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"0123456789abcdef",
        salted_password=bytes(32 if mechanism == 1 else 64),
    )


def acl_steps() -> Iterator[tuple[str, Request[Any]]]:
    """What is asked about ACLs, in order."""
    yield "none", DescribeAclsRequest(**find())
    good = [
        rule(),
        rule(resource_name="pre", resource_pattern_type=4, operation=4),
        rule(resource_name="*", permission_type=2, host="10.0.0.1"),
        rule(resource_type=3, resource_name="g"),
        rule(resource_type=4, resource_name="kafka-cluster", operation=12),
        rule(resource_type=5, resource_name="x", operation=8),
        rule(resource_type=6, resource_name="token", operation=8),
        rule(resource_type=7, resource_name="User:carol", operation=13),
    ]
    yield "created", CreateAclsRequest(creations=good)
    yield "created again", CreateAclsRequest(creations=good[:1])
    bad = [
        rule(resource_name="ok"),
        rule(resource_name=""),
        rule(resource_type=4, resource_name="other"),
        rule(principal="carol"),
        rule(resource_type=1),
        rule(resource_pattern_type=1),
        rule(resource_pattern_type=2),
        rule(operation=1),
        rule(permission_type=1),
        rule(principal="User:"),
    ]
    for number, each in enumerate(bad):
        yield f"bad {number}", CreateAclsRequest(creations=[each])
    yield "bad among good", CreateAclsRequest(creations=[rule(resource_name="ok2"), *bad[1:4]])
    questions: dict[str, dict[str, Any]] = {
        "all": {},
        "topics": {"resource_type_filter": 2},
        "matching": {
            "resource_type_filter": 2,
            "resource_name_filter": "prefix",
            "pattern_type_filter": 2,
        },
        "matching literal": {"resource_name_filter": "t", "pattern_type_filter": 2},
        "prefixed": {"pattern_type_filter": 4},
        "literal": {"pattern_type_filter": 3, "resource_name_filter": "*"},
        "any of name": {"resource_name_filter": "pre"},
        "principal": {"principal_filter": "User:nobody"},
        "host": {"host_filter": "10.0.0.1"},
        "operation": {"operation": 4},
        "deny": {"permission_type": 2},
    }
    for name, terms in questions.items():
        yield f"described: {name}", DescribeAclsRequest(**find(**terms))
    deleted: dict[str, dict[str, Any]] = {
        "unknown type": {"resource_type_filter": 99},
        "unknown pattern": {"pattern_type_filter": 99},
        "unknown operation": {"operation": 99},
        "unknown permission": {"permission_type": 99},
        "nothing": {"principal_filter": "User:nobody"},
        "one": {"resource_name_filter": "pre", "pattern_type_filter": 4},
    }
    for name, terms in deleted.items():
        filters = [DeleteAclsFilter(**find(**terms))]
        yield f"deleted: {name}", DeleteAclsRequest(filters=filters)
    both = [
        DeleteAclsFilter(**find(principal_filter="User:nobody")),
        DeleteAclsFilter(**find(principal_filter="User:carol")),
    ]
    yield "deleted: all", DeleteAclsRequest(filters=both)
    yield "none left", DescribeAclsRequest(**find(principal_filter="User:carol"))


def quota_steps() -> Iterator[tuple[str, Request[Any]]]:
    """What is asked about quotas, in order."""
    yield "none", DescribeClientQuotasRequest(components=[], strict=False)
    entries = [
        quota({"user": "carol"}, producer_byte_rate=1000.0, consumer_byte_rate=2000.0),
        quota({"user": None}, request_percentage=12.5),
        quota({"client-id": "app"}, controller_mutation_rate=3.5),
        quota({"user": "carol", "client-id": "app"}, producer_byte_rate=5.0),
        quota({"user": "carol", "client-id": None}, producer_byte_rate=6.0),
        quota({"ip": "127.0.0.9"}, connection_creation_rate=7.0),
        quota({"ip": None}, connection_creation_rate=8.0),
    ]
    yield "only checked", AlterClientQuotasRequest(entries=entries, validate_only=True)
    yield "set", AlterClientQuotasRequest(entries=entries)
    bad = [
        quota({"user": "dave"}, producer_byte_rate=1.0),
        quota({}, producer_byte_rate=1.0),
        quota({"user": ""}, producer_byte_rate=1.0),
        quota({"planet": "mars"}, producer_byte_rate=1.0),
        quota({"user": "erin"}, speed=1.0),
        quota({"user": "erin"}, producer_byte_rate=0.0),
        quota({"user": "erin"}, producer_byte_rate=-1.0),
        quota({"user": "erin"}, producer_byte_rate=1.5),
        quota({"user": "erin"}, producer_byte_rate=1e19),
        quota({"ip": "127.0.0.8"}, connection_creation_rate=1e10),
        quota({"ip": "127.0.0.8"}, producer_byte_rate=1.0),
        quota({"user": "erin", "ip": "127.0.0.8"}, connection_creation_rate=1.0),
        quota({"ip": "no ip"}, connection_creation_rate=1.0),
        quota({"user": "erin"}, connection_creation_rate=1.0),
        quota({"user": "erin"}, speed=None),
    ]
    for number, each in enumerate(bad):
        yield f"bad {number}", AlterClientQuotasRequest(entries=[each])
    yield "bad among good", AlterClientQuotasRequest(entries=[bad[4], bad[0], bad[1]])
    twice = [quota({"user": "frank"}, producer_byte_rate=value) for value in (1.0, 2.0)]
    yield "twice", AlterClientQuotasRequest(entries=twice)
    for name, components, strict in (
        ("all", [], False),
        ("strict none", [], True),
        ("user", [component("user", 0, "carol")], False),
        ("user only", [component("user", 0, "carol")], True),
        ("default user", [component("user", 1)], False),
        ("any user", [component("user", 2)], False),
        ("both", [component("user", 0, "carol"), component("client-id", 2)], True),
        ("ip", [component("ip", 2)], False),
        ("nobody", [component("user", 0, "nobody")], False),
        ("bad type", [component("planet", 2)], False),
        ("empty type", [component("", 2)], False),
        ("bad match type", [component("user", 9)], False),
        ("exact without name", [component("user", 0)], False),
        ("default with name", [component("user", 1, "x")], False),
        ("any with name", [component("user", 2, "x")], False),
        ("twice", [component("user", 2), component("user", 1)], False),
        ("ip and user", [component("ip", 2), component("user", 2)], False),
    ):
        yield (
            f"described: {name}",
            DescribeClientQuotasRequest(components=components, strict=strict),
        )
    removed = [
        quota({"user": "carol"}, producer_byte_rate=None, consumer_byte_rate=1.0),
        quota({"user": None}, request_percentage=None),
        quota({"user": "nobody"}, request_percentage=None),
    ]
    yield "removed", AlterClientQuotasRequest(entries=removed)
    yield "left", DescribeClientQuotasRequest(components=[component("user", 2)], strict=True)


def scram_steps() -> Iterator[tuple[str, Request[Any]]]:
    """What is asked about users with SCRAM, in order."""

    def described(*names: str) -> DescribeUserScramCredentialsRequest:
        return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])

    def altered(*changes: ScramCredentialUpsertion | ScramCredentialDeletion) -> Request[Any]:
        return AlterUserScramCredentialsRequest(
            upsertions=[each for each in changes if isinstance(each, ScramCredentialUpsertion)],
            deletions=[each for each in changes if isinstance(each, ScramCredentialDeletion)],
        )

    def deletion(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
        return ScramCredentialDeletion(name=name, mechanism=mechanism)

    yield "none", DescribeUserScramCredentialsRequest(users=[])
    yield "set", altered(password("carol"), password("carol", 2, 8192), password("dave"))
    yield "described", described("carol", "nobody")
    yield "described all", described()
    yield "described twice", described("carol", "carol", "dave")
    yield "described empty", described("")
    bad: list[ScramCredentialUpsertion | ScramCredentialDeletion] = [
        password(""),
        password("erin", 3),
        password("erin", 0),
        password("erin", 1, 4095),
        password("erin", 1, 16385),
        password("erin", 2, 16384),
        deletion("nobody"),
        deletion("dave", 2),
        deletion("dave", 9),
        deletion(""),
    ]
    for number, each in enumerate(bad):
        yield f"bad {number}", altered(each)
    yield "bad among good", altered(password("frank"), bad[3], deletion("nobody"))
    yield "same twice", altered(password("gina"), password("gina"))
    yield "set and deleted", altered(password("gina"), deletion("gina"))
    yield "one good, one bad", altered(password("gina"), password("gina", 2, 1))
    yield "deleted", altered(deletion("carol"), deletion("dave"))
    yield "deleted again", altered(deletion("carol"))
    yield "left", described("carol", "dave", "erin", "frank", "gina")


def refused_steps() -> Iterator[tuple[str, Request[Any]]]:
    """What a user without rights asks. Texts of refusals differ, so the codes are compared."""
    yield "describe rules", DescribeAclsRequest(**find())
    yield "create rules", CreateAclsRequest(creations=[rule(), rule(resource_name="u")])
    yield "delete rules", DeleteAclsRequest(filters=[DeleteAclsFilter(**find())])
    yield "describe quotas", DescribeClientQuotasRequest(components=[], strict=False)
    entries = [quota({"user": "carol"}, producer_byte_rate=1.0)]
    yield "alter quotas", AlterClientQuotasRequest(entries=entries)
    yield "describe users", DescribeUserScramCredentialsRequest(users=[])
    changes = AlterUserScramCredentialsRequest(
        upsertions=[password("carol")],
        deletions=[ScramCredentialDeletion(name="dave", mechanism=1)],
    )
    yield "alter users", changes


async def answers(
    client: WireClient,
    steps: Iterator[tuple[str, Request[Any]]],
    expected: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Send each request; return what came back, without what differs by nature.

    A real node learns of a change a moment after the response. So a question that changes nothing
    is asked again, for some seconds, until the answer is the expected one.
    """
    clock = asyncio.get_running_loop().time
    found = {}
    for name, request in steps:
        answer = shape(await client.ask(request))
        ends = clock() + SETTLED_S
        while (
            expected is not None
            and type(request).__name__.startswith("Describe")
            and answer != expected[name]
            and clock() < ends
        ):
            await asyncio.sleep(0.05)
            answer = shape(await client.ask(request))
        found[name] = answer
    return found


async def token_answers(
    alice: WireClient,
    bob: WireClient,
    plain: WireClient,
    expected: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What brokers answer about tokens to alice, to bob, and on a listener without a login.

    A real controller knows a new token, or its new end, a moment after the response. So it is asked
    again, for some seconds, until the answer is the expected one.
    """
    found: dict[str, Any] = {}
    clock = asyncio.get_running_loop().time

    async def note(name: str, client: WireClient, request: Request[Any]) -> Any:
        answer = await client.ask(request)
        ends = clock() + SETTLED_S
        while expected is not None and token_shape(answer) != expected[name] and clock() < ends:
            await asyncio.sleep(0.05)
            answer = await client.ask(request)
        found[name] = token_shape(answer)
        return answer

    def create(**terms: Any) -> CreateDelegationTokenRequest:
        return CreateDelegationTokenRequest(**{"max_lifetime_ms": -1} | terms)

    def principals(kind: Any, *names: str, of_type: str = "User") -> list[Any]:
        return [kind(principal_type=of_type, principal_name=name) for name in names]

    def owner(name: str) -> dict[str, str]:
        return {"owner_principal_type": "User", "owner_principal_name": name}

    made = await note("created", alice, create(renewers=principals(CreatableRenewers, "bob")))
    short = await note("short", alice, create(max_lifetime_ms=3_600_000))
    await note("for bob by alice", alice, create(**owner("bob")))
    await note("for alice by bob", bob, create(**owner("alice")))
    of_group = principals(CreatableRenewers, "all", of_type="Group")
    await note("renewer of another type", alice, create(renewers=of_group))
    await note("without a login", plain, create())
    await note("described to nobody", alice, DescribeDelegationTokenRequest(owners=[]))
    await note("described without a login", plain, DescribeDelegationTokenRequest(owners=None))

    def renew(mac: bytes, period_ms: int) -> RenewDelegationTokenRequest:
        return RenewDelegationTokenRequest(hmac=mac, renew_period_ms=period_ms)

    def expire(mac: bytes, period_ms: int) -> ExpireDelegationTokenRequest:
        return ExpireDelegationTokenRequest(hmac=mac, expiry_time_period_ms=period_ms)

    await note("renewed by the renewer", bob, renew(made.hmac, -1))
    await note("renewed for a time", alice, renew(made.hmac, 1_000_000))
    await note("renewed for long", alice, renew(made.hmac, 10**12))
    await note("renewed by another", bob, renew(short.hmac, -1))
    await note("unknown renewed", alice, renew(b"x", -1))
    await note("renewed without a login", plain, renew(made.hmac, -1))
    await note("ended by another", bob, expire(short.hmac, -1))
    await note("unknown ended", alice, expire(b"x", -1))
    await note("ended later", alice, expire(short.hmac, 2_000_000))
    await note("ended at once", alice, expire(short.hmac, -1))
    await note("ended again", alice, expire(short.hmac, -1))
    await note("ended now", alice, expire(made.hmac, 0))
    # A renewal before the node knows the end would undo it.
    await asyncio.sleep(0.01 if expected is None else 1.0)
    await note("renewed after its end", alice, renew(made.hmac, -1))
    await note("ended after its end", alice, expire(made.hmac, 5))
    await note("removed after its end", bob, expire(made.hmac, -1))
    return found


def token_shape(answer: Struct) -> dict[str, Any]:
    """A response about tokens: times as their distance from now, to ten minutes."""
    found: dict[str, Any] = shape(answer)
    now_ms = SYSTEM_CLOCK.time() * 1000
    for name, value in found.items():
        if "timestamp" in name and value > 0:
            found[name] = round((value - now_ms) / 600_000)
        elif name in ("token_id", "hmac"):
            found[name] = len(value or "")
    return found


def codes(value: Any) -> Any:
    """The error codes of an answer, in order."""
    if isinstance(value, dict):
        found = [value["error_code"]] if "error_code" in value else []
        return found + [each for part in value.values() for each in codes(part)]
    return [each for part in value for each in codes(part)] if isinstance(value, list) else []


def shape(value: Any) -> Any:
    """A message as a dict, with lists in the order of their texts, and no text as None."""
    if isinstance(value, list):
        return sorted((shape(each) for each in value), key=repr)
    if isinstance(value, Struct):
        names: tuple[str, ...] = vars(type(value))["__slots__"]
        return {name: shape(getattr(value, name)) for name in names}
    return value or None if isinstance(value, str) else value
