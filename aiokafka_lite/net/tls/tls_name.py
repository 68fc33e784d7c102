"""The name that a node shows in TLS: that of its certificate, and of SNI. Does not wait."""


def tls_name(host: str) -> str:
    """Return the name for SNI and for the check of the certificate.

    Names in DNS may end in a dot, and IPv6 addresses in a scope; names in certificates do neither.
    For an IP address Python sends no SNI, and compares with the IP addresses of the certificate.
    """
    return host.partition("%")[0].removesuffix(".")


__all__ = ["tls_name"]
