"""Tokens for Amazon MSK with IAM, by AWS's own signer. It reads files and asks AWS in a thread."""

import asyncio
import importlib
import random
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.tokens.cached_token_provider import CachedTokenProvider
from aiokafka_lite.net.sasl.tokens.oidc import FETCH_TIMEOUT_S
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken
from aiokafka_lite.secret import Secret


class MskIamTokenProvider(CachedTokenProvider):
    """Signs tokens with the AWS credentials of the process, of a profile or of a role.

    Needs the extra `msk`. Use it with `security_protocol="SASL_SSL"` and
    `sasl_mechanism="OAUTHBEARER"`. A token lives for 15 minutes, and is kept until it gets old.
    """

    def __init__(
        self,
        region: str,
        *,
        profile: str | None = None,
        role_arn: str | None = None,
        timeout_s: float = FETCH_TIMEOUT_S,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
    ) -> None:
        """`region` is the cluster's, such as "eu-central-1".

        Raises: KafkaConfigurationError for a profile together with a role.
        """
        if profile is not None and role_arn is not None:
            raise KafkaConfigurationError(
                "profile and role_arn contradict each other; set only one of them"
            )
        self._region = region
        self._profile = profile
        self._role_arn = role_arn
        self._is_imported = False
        super().__init__(f"AWS IAM in {region}", timeout_s=timeout_s, clock=clock, rng=rng)

    async def prepare(self) -> None:
        """Import AWS's libraries in a thread. It takes seconds on a slow machine.

        Raises: KafkaConfigurationError without AWS's signer.
        """
        if not self._is_imported:
            await asyncio.to_thread(_library)
            self._is_imported = True

    async def _fetch(self) -> FetchedToken:
        return await asyncio.to_thread(self._sign)

    def _sign(self) -> FetchedToken:
        signer = _library()
        try:
            if self._profile is not None:
                found = signer.generate_auth_token_from_profile(self._region, self._profile)
            elif self._role_arn is not None:
                found = signer.generate_auth_token_from_role_arn(self._region, self._role_arn)
            else:
                found = signer.generate_auth_token(self._region)
        except AttributeError as error:  # what the signer raises where it finds no credentials
            raise AuthenticationFailedError(
                f"there are no AWS credentials here ({error}); set those of the environment, of a"
                " profile or of a role"
            ) from error
        return FetchedToken(Secret(found[0]), int(found[1]) / 1000)


def _library() -> Any:
    try:
        return importlib.import_module("aws_msk_iam_sasl_signer.MSKAuthTokenProvider")
    except ImportError as error:
        raise KafkaConfigurationError(
            "MskIamTokenProvider needs aws-msk-iam-sasl-signer-python: pip install"
            f" 'aiokafka-lite[msk]' ({error})"
        ) from error


__all__ = ["MskIamTokenProvider"]
