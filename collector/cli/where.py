"""Where a passhat listens when no option says so: by the environment, else by the configuration, else as always."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Listener = Literal["http", "web"]
DEFAULTS: dict[Listener, str] = {"http": "http://127.0.0.1:4318", "web": "http://127.0.0.1:8317"}
VARIABLES: dict[Listener, str] = {"http": "PASSHAT_ENDPOINT", "web": "PASSHAT_SERVER"}
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # what listens on all addresses is asked on loopback


def url_of(listener: Listener, config: Path | None) -> str:
    """The address to ask. Raises UsageError when the configuration that would say it cannot be read."""
    named = os.environ.get(VARIABLES[listener])
    if named:
        return named
    return configured(listener, config) or DEFAULTS[listener]


def configured(listener: Listener, config: Path | None) -> str:
    """The address that `listen` has in the file or the variables; '' where neither is there, or any port is meant."""
    from collector.config.load import FILE_NAME

    said = any(name.upper().startswith(("PASSHAT_CONFIG", "PASSHAT_LISTEN")) for name in os.environ)
    if config is None and not said and not Path(FILE_NAME).is_file():
        return ""  # reading a configuration takes longer than asking
    from collector.config import join_address, load, split_address

    listen = load(config).listen
    host, port = split_address(getattr(listen, listener))
    scheme = "https" if listen.tls.cert is not None and listener in listen.tls.listeners else "http"
    return f"{scheme}://{join_address(ANYWHERE.get(host, host), port)}" if port else ""
