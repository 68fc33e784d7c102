"""The options of admin clients as a type, for editors and type checkers. Does not wait."""

from aiokafka_lite.cluster.client_options import ClientOptions


class AdminOptions(ClientOptions, total=False):
    """What the constructor of an admin client takes by name: the options of every client. As in
    `def make(**options: Unpack[AdminOptions])`.
    """


__all__ = ["AdminOptions"]
