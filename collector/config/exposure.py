"""Listening beyond this machine needs a token, or a person who says it is meant."""

from __future__ import annotations

import ipaddress

from collector.config.keys import Config
from collector.config.units import split_address
from collector.errors import UsageError


def refuse_open_door(config: Config, *, unsafe_no_auth: bool = False) -> None:
    """Raise UsageError when an address is not loopback and nobody would be asked for a token."""
    if unsafe_no_auth or config.auth.tokens or config.auth.tokens_file:
        return
    listen = config.listen
    wide = [address for address in (listen.grpc, listen.http, listen.web) if not is_loopback(address)]
    if wide:
        raise UsageError(
            f"{', '.join(wide)}: not loopback, and no token is configured: anyone who reaches it could read and write",
            hint="configure auth.tokens, listen on 127.0.0.1, or say --unsafe-no-auth",
        )


def is_loopback(address: str) -> bool:
    """Whether `host:port` can only be reached from this machine. A name other than localhost is taken as wide."""
    host, _ = split_address(address)
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
