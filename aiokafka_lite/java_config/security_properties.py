"""Turns Java's security properties into the client's options.

It knows `security.protocol`, `ssl.*` and `sasl.*` as Java's clients do. A property that would
change the security, and that cannot be kept, is a fault; it is never ignored. Stores are read when
the options are made, so each process reads its own files. It reads files and blocks.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.assertion_properties import assertion_provider
from aiokafka_lite.java_config.ciphers import openssl_ciphers
from aiokafka_lite.java_config.jaas import JaasEntry, parse_jaas
from aiokafka_lite.java_config.key_stores import is_pem_file, key_and_chain, trusted_certificates
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.secret import Secret

Properties = Mapping[str, Secret]
"""Java's names and the values as text. Every value is hidden, since some are passwords."""

_JAVA_MECHANISM: Final = "GSSAPI"
"""What Java uses without `sasl.mechanism`."""
_STORE_TYPES: Final = ("JKS", "PKCS12", "PEM")
_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "PLAIN": ("PlainLoginModule",),
    "SCRAM-SHA-256": ("ScramLoginModule",),
    "SCRAM-SHA-512": ("ScramLoginModule",),
    "OAUTHBEARER": ("OAuthBearerLoginModule",),
    "GSSAPI": ("Krb5LoginModule",),
}
_LOGIN_HANDLER: Final = "OAuthBearerLoginCallbackHandler"
_TOKEN_URL: Final = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105 - a name
_JWT_BEARER: Final = "JwtBearerJwtRetriever"
_RETRIEVERS: Final = (
    "DefaultJwtRetriever",
    "ClientCredentialsJwtRetriever",
    "FileJwtRetriever",
)
_VALIDATOR: Final = "sasl.oauthbearer.jwt.validator.class"
_VALIDATORS: Final = ("DefaultJwtValidator", "ClientJwtValidator")
_HEADER_URLENCODE: Final = "sasl.oauthbearer.header.urlencode"
_EXTENSION: Final = "extension_"
_WITHOUT_EFFECT: Final = frozenset(
    {
        *("sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name"),
        *("ssl.provider", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm"),
        *("ssl.secure.random.implementation", "ssl.client.auth", "ssl.principal.mapping.rules"),
        *("sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin"),
        *("sasl.kerberos.ticket.renew.jitter", "sasl.kerberos.ticket.renew.window.factor"),
        *("sasl.login.refresh.buffer.seconds", "sasl.login.refresh.min.period.seconds"),
        *("sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter"),
        *("sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms"),
        *("sasl.login.retry.backoff.ms", "sasl.login.retry.backoff.max.ms"),
        *("sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer"),
        *("sasl.oauthbearer.allow.unverified.audience", "sasl.oauthbearer.allow.unverified.issuer"),
        *("sasl.oauthbearer.clock.skew.seconds", "sasl.oauthbearer.jwks.endpoint.refresh.ms"),
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    }
)
"""How Java logs in, chooses its own classes, or checks tokens with the keys of
`sasl.oauthbearer.jwks.endpoint.url`. The client looks after tokens and tickets itself."""
_JAVA_CLASS: Final = "it is a Java class; the options of the client take Python objects"
_REFUSED: Final[Mapping[str, str]] = {
    "ssl.engine.factory.class": _JAVA_CLASS,
    "sasl.login.class": _JAVA_CLASS,
    "sasl.client.callback.handler.class": _JAVA_CLASS,
}


def is_security_property(name: str) -> bool:
    """Return whether Java's property of that name is about encryption or authentication."""
    return name == "security.protocol" or name.startswith(("ssl.", "sasl."))


FindFile = Callable[[str, str], str]
"""Takes the property that names a file, and its path; returns the path to read. Raises:
KafkaConfigurationError if there is no such file."""


def client_options(properties: Properties, find_file: FindFile | None = None) -> dict[str, Any]:
    """Return the client's options that mean the same as Java's security properties.

    `find_file` finds the files that properties name; None: they are at their paths.

    Raises: KafkaConfigurationError with a sentence for each fault. None shows a password.
    """
    reading = _Reading(properties, find_file or _as_named)
    options = reading.options()
    reading.check_all_read()
    if reading.faults:
        raise KafkaConfigurationError("; ".join(reading.faults))
    return options


class _Reading:
    """One translation: the properties, which of them were read, and the faults."""

    def __init__(self, properties: Properties, find_file: FindFile) -> None:
        self._properties = properties
        self._find_file = find_file
        self._read: set[str] = set()
        self.faults: list[str] = []

    def options(self) -> dict[str, Any]:
        protocol = (self._text("security.protocol") or "PLAINTEXT").upper()
        options: dict[str, Any] = {"security_protocol": protocol}
        steps: list[Callable[[], Mapping[str, Any]]] = []
        if protocol in ("SSL", "SASL_SSL"):
            steps += [self._trust, self._identity, self._tls]
        if protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
            steps.append(self._sasl)
        for step in steps:
            try:
                options.update(step())
            except KafkaConfigurationError as error:
                self.faults.append(reason_of(error))
        return options

    def check_all_read(self) -> None:
        """Note a fault for each property that nothing has read, and whose meaning would be lost."""
        protocol = (self._text("security.protocol") or "PLAINTEXT").upper()
        for name in sorted(self._properties.keys() - self._read - _WITHOUT_EFFECT):
            reason = _REFUSED.get(name)
            if reason is None:
                is_of_tls = name.startswith("ssl.")
                wanted = ("SSL", "SASL_SSL") if is_of_tls else ("SASL_PLAINTEXT", "SASL_SSL")
                if protocol not in wanted:
                    continue  # Java ignores it, too
                reason = "the client has nothing that means the same; leave it out"
            self.faults.append(f"{name} is not supported: {reason}")

    # Properties…

    def _secret(self, name: str) -> Secret | None:
        self._read.add(name)
        return self._properties.get(name)

    def _text(self, name: str) -> str | None:
        found = self._secret(name)
        return None if found is None else found.reveal_text().strip()

    def _file(self, name: str) -> str | None:
        """Return the path of the file that a property names."""
        path = self._text(name)
        return None if path is None else self._find_file(name, path)

    # TLS…

    def _trust(self) -> dict[str, Any]:
        password = self._secret("ssl.truststore.password")
        path, text = (
            self._file("ssl.truststore.location"),
            self._text("ssl.truststore.certificates"),
        )
        self._check_type("ssl.truststore.type")
        if text is not None:
            return {"ssl_cadata": text}
        if path is None:
            return {}
        if is_pem_file(path):
            return {"ssl_cafile": path}
        return {"ssl_cadata": trusted_certificates(path, password)}

    def _identity(self) -> dict[str, Any]:
        store_password = self._secret("ssl.keystore.password")
        key_password = self._secret("ssl.key.password")
        chain = self._text("ssl.keystore.certificate.chain")
        key, path = self._secret("ssl.keystore.key"), self._file("ssl.keystore.location")
        self._check_type("ssl.keystore.type")
        if chain is not None or key is not None:
            if chain is None or key is None:
                raise KafkaConfigurationError(
                    "ssl.keystore.certificate.chain and ssl.keystore.key belong together; set both"
                )
            return _with_password({"ssl_certfile": chain, "ssl_keyfile": key}, key_password)
        if path is None:
            return {}
        if is_pem_file(path):
            return _with_password({"ssl_certfile": path}, key_password)
        found = key_and_chain(path, store_password, key_password)
        return {"ssl_certfile": found.chain, "ssl_keyfile": found.key}

    def _check_type(self, name: str) -> None:
        """The content of a store says what it is, so its type is only checked for its spelling."""
        kind = self._text(name)
        if kind is not None and kind.upper() not in _STORE_TYPES:
            raise KafkaConfigurationError(
                f"{name}={quoted(kind)} is not known; set it to {', '.join(_STORE_TYPES)}"
            )

    def _tls(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        algorithm = self._text("ssl.endpoint.identification.algorithm")
        if algorithm is not None and algorithm.lower() not in ("", "https"):
            raise KafkaConfigurationError(
                f"ssl.endpoint.identification.algorithm={quoted(algorithm)} is not "
                "known; leave it out"
                ' to check host names, or set it to "" for no check'
            )
        if algorithm == "":
            options["ssl_check_hostname"] = False
        suites = self._text("ssl.cipher.suites")
        if suites:
            options["ssl_ciphers"] = openssl_ciphers(suites)
        for name in ("ssl.protocol", "ssl.enabled.protocols"):
            self._check_versions(name)
        return options

    def _check_versions(self, name: str) -> None:
        text = self._text(name)
        versions = {each.strip() for each in (text or "").split(",")} - {""}
        if versions and not versions & {"TLS", "TLSv1.2", "TLSv1.3"}:
            raise KafkaConfigurationError(
                f"{name}={quoted(text)} has no version that the client speaks; name "
                "TLSv1.2 or TLSv1.3"
            )

    # SASL…

    def _sasl(self) -> dict[str, Any]:
        mechanism = self._text("sasl.mechanism") or _JAVA_MECHANISM
        modules = _MODULES.get(mechanism)
        if modules is None:
            raise KafkaConfigurationError(
                f"sasl.mechanism={quoted(mechanism)} is not known; set it to one of "
                f"{', '.join(_MODULES)}"
            )
        entry = self._jaas(mechanism, modules)
        options: dict[str, Any] = {"sasl_mechanism": mechanism}
        if mechanism == "GSSAPI":
            return options | self._kerberos(entry)
        if mechanism == "OAUTHBEARER":
            return options | self._tokens(entry)
        if entry is None:
            raise KafkaConfigurationError(
                f"sasl.mechanism={mechanism} needs sasl.jaas.config with username and password"
            )
        return options | _user(mechanism, entry)

    def _jaas(self, mechanism: str, modules: tuple[str, ...]) -> JaasEntry | None:
        text = self._secret("sasl.jaas.config")
        if text is None:
            return None
        entry = parse_jaas(text.reveal_text())
        if entry.module not in modules:
            raise KafkaConfigurationError(
                f"sasl.jaas.config names {entry.module}, and sasl.mechanism={mechanism} needs"
                f" {modules[0]}"
            )
        return entry

    def _kerberos(self, entry: JaasEntry | None) -> dict[str, Any]:
        service = self._text("sasl.kerberos.service.name")
        options: dict[str, Any] = {}
        if entry is not None:
            service = service or entry.text("serviceName")
            if entry.flag("useKeyTab"):
                keytab = entry.text("keyTab")
                if keytab is not None:
                    keytab = self._find_file("keyTab in sasl.jaas.config", keytab)
                options["sasl_kerberos_keytab"] = keytab
                options["sasl_kerberos_principal"] = entry.text("principal")
        if service is None:
            raise KafkaConfigurationError(
                "sasl.kerberos.service.name is missing; set it to the first part of the brokers'"
                " principal, such as kafka"
            )
        return {"sasl_kerberos_service_name": service, **options}

    def _tokens(self, entry: JaasEntry | None) -> dict[str, Any]:
        handler = self._text("sasl.login.callback.handler.class")
        if handler is not None and handler.rpartition(".")[2] != _LOGIN_HANDLER:
            raise KafkaConfigurationError(
                f"sasl.login.callback.handler.class={quoted(handler)}: {_JAVA_CLASS}; only"
                f" {_LOGIN_HANDLER} is known"
            )
        url = self._text(_TOKEN_URL)
        client_id = self._text("sasl.oauthbearer.client.credentials.client.id")
        client_secret = self._secret("sasl.oauthbearer.client.credentials.client.secret")
        scope = self._text("sasl.oauthbearer.scope")
        if entry is not None:
            client_id = client_id or entry.text("clientId")
            client_secret = client_secret or entry.options.get("clientSecret")
            scope = scope or entry.text("scope")
        if url is None:
            raise KafkaConfigurationError(
                f"sasl.mechanism=OAUTHBEARER needs {_TOKEN_URL}: the https"
                " address of the provider of tokens, or the file: URL of a token"
            )
        extensions = _extensions(entry)
        self._check_validator()
        header_urlencode = (self._text(_HEADER_URLENCODE) or "").lower() == "true"
        if self._wants_jwt_bearer():
            provider: object = assertion_provider(
                url, self._secret, self._file, scope=scope, extensions=extensions
            )
            return {"sasl_oauth_token_provider": provider}
        if url.lower().startswith("file:"):
            path = self._find_file(_TOKEN_URL, unquote(urlsplit(url).path))
            return {"sasl_oauth_token_provider": _token_file(path, extensions)}
        if client_id is None or client_secret is None:
            raise KafkaConfigurationError(
                "sasl.mechanism=OAUTHBEARER needs the id and the secret of the client: clientId and"
                " clientSecret in sasl.jaas.config, or"
                " sasl.oauthbearer.client.credentials.client.id and .client.secret"
            )
        from aiokafka_lite.net.sasl.tokens.oidc import OidcTokenProvider  # noqa: PLC0415

        provider = OidcTokenProvider(
            url,
            client_id,
            client_secret,
            scope=scope,
            extensions=extensions,
            header_urlencode=header_urlencode,
        )
        return {"sasl_oauth_token_provider": provider}

    def _check_validator(self) -> None:
        """Note that Java's default was named. It looks at the form of a token, as brokers do."""
        named = self._text(_VALIDATOR)
        if named is not None and named.rpartition(".")[2] not in _VALIDATORS:
            raise KafkaConfigurationError(
                f"{_VALIDATOR}={quoted(named)} is not known; {_JAVA_CLASS}, and"
                f" {', '.join(_VALIDATORS)} are known"
            )

    def _wants_jwt_bearer(self) -> bool:
        """Return whether Java's class that fetches tokens uses the grant jwt-bearer."""
        named = self._text("sasl.oauthbearer.jwt.retriever.class")
        if named is None or named.rpartition(".")[2] in _RETRIEVERS:
            return False
        if named.rpartition(".")[2] == _JWT_BEARER:
            return True
        raise KafkaConfigurationError(
            f"sasl.oauthbearer.jwt.retriever.class={quoted(named)} is not known; {_JAVA_CLASS}, and"
            f" {_JWT_BEARER}, {', '.join(_RETRIEVERS)} are known"
        )


def _extensions(entry: JaasEntry | None) -> dict[str, str] | None:
    """Return the SASL extensions among the options of a login module (KIP-342)."""
    names = [] if entry is None else [name for name in entry.options if name.startswith(_EXTENSION)]
    if entry is None or not names:
        return None
    return {name.removeprefix(_EXTENSION): entry.text(name) or "" for name in names}


def _token_file(path: str, extensions: dict[str, str] | None) -> object:
    from aiokafka_lite.net.sasl.tokens.token_file import FileTokenProvider  # noqa: PLC0415

    return FileTokenProvider(path, extensions=extensions)


def _as_named(_name: str, path: str) -> str:
    return path


def _with_password(options: dict[str, Any], password: Secret | None) -> dict[str, Any]:
    return options if password is None else {**options, "ssl_password": password}


def _user(mechanism: str, entry: JaasEntry) -> dict[str, Any]:
    name, password = entry.text("username"), entry.options.get("password")
    if name is None or password is None:
        missing = "username" if name is None else "password"
        raise KafkaConfigurationError(f"sasl.jaas.config: {entry.module} lacks {missing}")
    options: dict[str, Any] = {"sasl_plain_username": name, "sasl_plain_password": password}
    if mechanism.startswith("SCRAM") and entry.flag("tokenauth"):
        options["sasl_scram_tokenauth"] = True
    return options


__all__ = ["FindFile", "Properties", "client_options", "is_security_property"]
