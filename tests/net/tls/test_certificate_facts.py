"""A certificate's own words are read without trust in it, and hostile bytes are a ValueError."""

import datetime as dt
import ssl
from contextlib import suppress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.net.tls.certificate_facts import certificate_facts
from tests.support.certificates import Authority

ISSUED = Authority().issue("kafka.example.org", "*.kafka.svc", "10.1.2.3", "2001:db8::1")
DER = ssl.PEM_cert_to_DER_cert(ISSUED.leaf.cert_chain_pems[0].bytes().decode())


def self_signed(*attributes: x509.NameAttribute[str], year: int = 2060) -> bytes:
    """Return a certificate without extensions."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(attributes)
    made = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=7,
        not_valid_before=dt.datetime(1999, 12, 31, 23, 59, 58, tzinfo=dt.UTC),
        not_valid_after=dt.datetime(year, 2, 3, 4, 5, 6, tzinfo=dt.UTC),
    )
    return made.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def test_names_dates_and_issuer_are_those_of_the_certificate() -> None:
    facts = certificate_facts(DER)
    assert facts.names == ("kafka.example.org", "*.kafka.svc", "10.1.2.3", "2001:db8::1")
    known = x509.load_der_x509_certificate(DER)
    assert facts.not_before == known.not_valid_before_utc
    assert facts.not_after == known.not_valid_after_utc
    assert "trustme" in facts.issuer


def test_a_subject_is_told_by_its_common_name_or_its_organization() -> None:
    common = x509.NameAttribute(x509.NameOID.COMMON_NAME, "Käthe")
    organization = x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Example\x1b[31m")
    facts = certificate_facts(self_signed(organization, common))
    assert (facts.subject, facts.issuer, facts.names) == ("Käthe", "Käthe", ())
    assert facts.not_before == dt.datetime(1999, 12, 31, 23, 59, 58, tzinfo=dt.UTC)
    assert facts.not_after == dt.datetime(2060, 2, 3, 4, 5, 6, tzinfo=dt.UTC)
    assert certificate_facts(self_signed(organization, year=2040)).subject == "Example?[31m"
    assert not certificate_facts(self_signed()).subject


def test_a_certificate_that_is_cut_off_is_an_error() -> None:
    # The length differs from process to process with the signature, so it names no test.
    for length in range(len(DER)):
        with pytest.raises(ValueError, match="this is no certificate"):
            certificate_facts(DER[:length])


@given(st.integers(0, len(DER) - 1), st.integers(0, 255))
def test_a_changed_byte_gives_facts_or_a_value_error(place: int, byte: int) -> None:
    with suppress(ValueError):
        certificate_facts(DER[:place] + bytes([byte]) + DER[place + 1 :])


@given(st.binary(max_size=300))
def test_any_bytes_give_facts_or_a_value_error(data: bytes) -> None:
    with suppress(ValueError):
        certificate_facts(data)


def test_no_certificate_is_too_large_to_refuse() -> None:
    with pytest.raises(ValueError, match="a certificate of 70000 bytes"):
        certificate_facts(bytes(70_000))
