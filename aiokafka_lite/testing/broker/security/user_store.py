"""What one cluster stores of its users: SCRAM passwords, delegation tokens, quotas.

Does not wait.
"""

from collections.abc import Collection, Mapping

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.testing.broker.security.client_quotas import ClientQuotas
from aiokafka_lite.testing.broker.security.delegation_tokens import DelegationTokens
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken, ScramUsers

SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
"""Kafka's numbers of the mechanisms (KIP-554)."""


class UserStore:
    """Shared by all nodes: a change holds from the next request on."""

    def __init__(
        self,
        passwords: Mapping[str, str] | None = None,
        tokens: Mapping[str, BrokerToken] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        *,
        mechanisms: Collection[str] = (),
    ) -> None:
        """`passwords` and `tokens` are those of the broker's options.

        The passwords are for those of SCRAM among `mechanisms`, which the listeners have.
        """
        self.tokens = DelegationTokens(clock, tokens or {})
        self.quotas = ClientQuotas()
        self.scram = {
            name: ScramUsers(name, {}, self.tokens.find) for name in SCRAM_MECHANISMS.values()
        }
        self._mechanisms = mechanisms
        for user, password in (passwords or {}).items():
            self.set_password(user, password)

    def set_password(self, user: str, password: str) -> None:
        """Set a user's password for each mechanism of the listeners."""
        for name, users in self.scram.items():
            if name in self._mechanisms:
                users.set_password(user, password)

    def remove(self, user: str) -> None:
        """Remove a user's passwords."""
        for users in self.scram.values():
            users.remove(user)

    def scram_names(self) -> list[str]:
        """Return the names of all users with a SCRAM password."""
        return sorted({name for users in self.scram.values() for name in users.names})

    def iterations(self, user: str) -> dict[int, int]:
        """Return {number of a mechanism: iterations} of a user; empty without a password."""
        known = {
            number: self.scram[name].credential(user) for number, name in SCRAM_MECHANISMS.items()
        }
        return {number: each.iterations for number, each in known.items() if each is not None}


__all__ = ["SCRAM_MECHANISMS", "UserStore"]
