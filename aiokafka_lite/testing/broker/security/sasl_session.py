"""The state of SASL on one connection: which request may come next, and whose session it is.

Does not wait. Source: SaslServerAuthenticator, KafkaChannel.maybeBeginServerReauthentication,
SocketServer.processCompletedReceives; KIP-43, KIP-152, KIP-368.
"""

from collections.abc import Callable, Mapping
from enum import Enum, auto

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import IllegalSaslStateError
from aiokafka_lite.protocol.api_key import ApiKey, api_name
from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    Exchange,
    LoginRefusedError,
    MakeExchange,
    SaslFormatError,
)

MIN_REAUTH_INTERVAL_S = 1.0
"""A SaslHandshake earlier than this after the last re-authentication began is not one."""


class SaslState(Enum):
    """What the broker expects next."""

    VERSIONS_OR_HANDSHAKE = auto()
    HANDSHAKE = auto()
    TOKENS = auto()
    COMPLETE = auto()
    BAD_MECHANISM = auto()
    """A re-authentication by another mechanism: any next request ends the connection."""
    FAILED = auto()


class SaslSession:
    """The authentication of one connection, and its re-authentications."""

    def __init__(
        self,
        mechanisms: Mapping[str, MakeExchange],
        clock: Clock,
        *,
        max_reauth_ms: int,
        on_login: Callable[[str], object],
        refusal_delay_ms: int = 0,
    ) -> None:
        """`on_login` gets the principal, such as "User:alice", when a client is accepted first."""
        self.mechanisms = mechanisms
        self.refusal_delay_s = refusal_delay_ms / 1000
        """How long the end of the connection is delayed once the client is refused (KIP-306)."""
        self._clock = clock
        self._max_reauth_ms = max_reauth_ms
        self._on_login = on_login
        self._state = SaslState.VERSIONS_OR_HANDSHAKE
        self._exchange: Exchange | None = None
        self._mechanism = ""
        self._has_headers = True
        self._principal: str | None = None
        self.is_by_token = False
        """Whether a delegation token stands for the user. Such a client may make no tokens."""
        self._ends_at: float | None = None
        self._reauth_began_at: float | None = None

    @property
    def has_failed(self) -> bool:
        """Return whether the connection is to be closed."""
        return self._state is SaslState.FAILED

    @property
    def is_complete(self) -> bool:
        """Return whether the client is authenticated, and not about to do it again."""
        return self._state is SaslState.COMPLETE

    @property
    def awaits_bare_token(self) -> bool:
        """Return whether the next frame is a token without a header (SaslHandshake v0)."""
        return self._state is SaslState.TOKENS and not self._has_headers

    def admit(self, api_key: int) -> None:
        """Return if a request of this API may come now.

        Raises: IllegalSaslStateError if not; then the connection is closed.
        """
        match self._state:
            case SaslState.COMPLETE:
                if api_key != ApiKey.SASL_HANDSHAKE or not self._may_begin_again():
                    self._check_not_over(api_key)
                return
            case SaslState.TOKENS:
                expected: tuple[int, ...] = (ApiKey.SASL_AUTHENTICATE,)
            case SaslState.HANDSHAKE:
                expected = (ApiKey.SASL_HANDSHAKE,)
            case SaslState.VERSIONS_OR_HANDSHAKE:
                expected = (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE)
            case SaslState.BAD_MECHANISM | SaslState.FAILED:
                expected = ()
        if api_key not in expected:
            names = " or ".join(api_name(key) for key in expected) or "nothing"
            raise IllegalSaslStateError(
                f"the client sent {api_name(api_key)} while it authenticates; expected is {names}"
            )

    def _may_begin_again(self) -> bool:
        """Begin a re-authentication, and return True, unless there is none or it is too early."""
        if self._ends_at is None:
            return False
        now_s, last_s = self._clock.monotonic(), self._reauth_began_at
        if last_s is not None and now_s - last_s < MIN_REAUTH_INTERVAL_S:
            return False
        self._reauth_began_at = now_s
        self._state = SaslState.HANDSHAKE
        return True

    def _check_not_over(self, api_key: int) -> None:
        if self._ends_at is not None and self._clock.monotonic() > self._ends_at:
            raise IllegalSaslStateError(
                f"the session of {self._principal} is over, and {api_name(api_key)} came without "
                "a new authentication (KIP-368)"
            )

    def versions_are_told(self) -> None:
        """Expect a SaslHandshake next: the response to ApiVersions is on its way."""
        if self._state is SaslState.VERSIONS_OR_HANDSHAKE:
            self._state = SaslState.HANDSHAKE

    def choose(self, mechanism: str, *, has_headers: bool) -> bool:
        """Begin with a mechanism; return whether this listener has it."""
        make_exchange = self.mechanisms.get(mechanism)
        if make_exchange is None:
            self.fail()
            return False
        if self._principal is not None and mechanism != self._mechanism:
            # Apache Kafka accepts the handshake and closes at the token, without a response.
            self._state = SaslState.BAD_MECHANISM
            return True
        self._mechanism = mechanism
        self._has_headers = has_headers
        self._exchange = make_exchange()
        next(self._exchange)
        self._state = SaslState.TOKENS
        return True

    def take(self, token: bytes) -> tuple[bytes, int]:
        """Take a token of the client.

        Return the answer, and the lifetime of the session in milliseconds: 0 for none.

        Raises: LoginRefusedError with the text for the client; then the connection is closed.
        """
        assert self._exchange is not None, "admit() lets no token through before a handshake"
        try:
            return self._exchange.send(token), 0
        except StopIteration as end:
            return self._accept(end.value)
        except LoginRefusedError:
            self.fail()
            raise
        except SaslFormatError as error:
            self.fail()
            step = "authentication" if self._principal is None else "re-authentication"
            raise LoginRefusedError(
                f"Authentication failed during {step} due to invalid credentials with SASL "
                f"mechanism {self._mechanism}"
            ) from error

    def _accept(self, accepted: Accepted) -> tuple[bytes, int]:
        principal = f"User:{accepted.name}"
        if self._principal is None:
            self._principal = principal
            self.is_by_token = accepted.is_token
            self._on_login(principal)
        elif principal != self._principal:
            self.fail()
            raise LoginRefusedError(
                "Cannot change principals during re-authentication from "
                f"{self._principal.replace(':', '.', 1)}: {principal.replace(':', '.', 1)}"
            )
        self._exchange = None
        self._state = SaslState.COMPLETE
        return accepted.answer, self._begin_lifetime(accepted.expires_at_ms)

    def _begin_lifetime(self, expires_at_ms: int | None) -> int:
        lifetimes = [self._max_reauth_ms] if self._max_reauth_ms else []
        if expires_at_ms is not None:
            lifetimes.append(max(0, expires_at_ms - int(self._clock.time() * 1000)))
        if not lifetimes:
            return 0
        self._ends_at = self._clock.monotonic() + min(lifetimes) / 1000
        return min(lifetimes)

    def fail(self) -> None:
        """Refuse the client: after the present response the connection is closed."""
        self._state = SaslState.FAILED


__all__ = ["SaslSession", "SaslState"]
