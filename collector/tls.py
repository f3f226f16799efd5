"""TLS of the listeners: one certificate for all, read again whenever its files change.

A new pair of files is in force for the next connection, without a restart. Files that do not fit together (one of them
is being replaced) leave the old ones in force and are said once.
"""

from __future__ import annotations

import logging
import ssl
import threading
from pathlib import Path
from typing import Any

import grpc
from msgspec import Struct

from collector.config.keys import TlsConfig
from collector.errors import UsageError
from collector.quiet_log import QuietLog

log = logging.getLogger("passhat.tls")

_Stamps = tuple[tuple[int, int], ...]


class Material(Struct, frozen=True):
    """The files as read: PEM bytes. `client_ca` is empty where no client certificate is asked for."""

    cert: bytes
    key: bytes
    client_ca: bytes


class Certificates:
    """The certificate in force, for every listener. Thread-safe. Raises UsageError when it cannot be used at start."""

    def __init__(self, config: TlsConfig) -> None:
        assert config.cert is not None
        assert config.key is not None
        self._paths: dict[str, Path] = {"cert": config.cert, "key": config.key}
        if config.client_ca is not None:
            self._paths["client_ca"] = config.client_ca
        self._lock = threading.Lock()
        self._quiet = QuietLog(log)
        self.error = ""  # why newer files are not in force
        self._stamps = self._stamped()
        self._material, self._context = self._read()

    @property
    def asks_clients(self) -> bool:
        """Whether clients must show a certificate of `listen.tls.client_ca`."""
        return "client_ca" in self._paths

    def server_context(self) -> ssl.SSLContext:
        """For asyncio servers: each handshake gets the certificate in force then."""
        first = self._current()[1]

        def renew(connection: Any, name: str | None, context: ssl.SSLContext) -> None:
            connection.context = self._current()[1]

        first.sni_callback = renew
        return first

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """The same for gRPC, which asks before each handshake."""
        given = self._current()[0]

        def renew() -> grpc.ServerCertificateConfiguration | None:
            nonlocal given
            material = self._current()[0]
            if material is given:
                return None
            given = material
            return _for_grpc(material)

        fetch: Any = renew  # may answer None: nothing new (the stubs lack it)
        return grpc.dynamic_ssl_server_credentials(_for_grpc(given), fetch, self.asks_clients)

    def _current(self) -> tuple[Material, ssl.SSLContext]:
        with self._lock:
            stamps = self._stamped()
            if stamps != self._stamps:
                self._renew(stamps)
            return self._material, self._context

    def _renew(self, stamps: _Stamps) -> None:
        try:
            material, context = self._read()
        except UsageError as error:
            self.error = str(error)
            self._quiet.say(logging.ERROR, self.error, "the certificate in force stays: %s", error)
            return  # the stamps stay as they were: it is tried again at the next connection
        self._material, self._context, self._stamps, self.error = material, context, stamps, ""
        log.info("a new certificate is in force: %s", self._paths["cert"])

    def _stamped(self) -> _Stamps:
        stamps = []
        for path in self._paths.values():
            try:
                found = path.stat()
            except OSError:
                stamps.append((0, 0))
            else:
                stamps.append((found.st_mtime_ns, found.st_size))
        return tuple(stamps)

    def _read(self) -> tuple[Material, ssl.SSLContext]:
        read = {}
        for name, path in self._paths.items():
            try:
                read[name] = path.read_bytes()
            except OSError as error:
                raise UsageError(f"listen.tls.{name}: cannot read {path}: {error.strerror or error}") from None
        return Material(read["cert"], read["key"], read.get("client_ca", b"")), self._loaded()

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # A resumed session would skip what has changed since: the certificate, and who may connect.
        context.options |= ssl.OP_NO_TICKET
        context.num_tickets = 0
        cert, key = self._paths["cert"], self._paths["key"]
        try:
            context.load_cert_chain(cert, key, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            raise UsageError(
                f"listen.tls: {cert} and {key} are no certificate and its key: {_said(error)}",
                hint="PEM files: the chain with the server's certificate first, and its key without a password",
            ) from None
        if self.asks_clients:
            try:
                context.load_verify_locations(self._paths["client_ca"])
            except ssl.SSLError as error:
                raise UsageError(
                    f"listen.tls.client_ca: {self._paths['client_ca']}: no certificate: {_said(error)}"
                ) from None
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def certificates_of(config: TlsConfig) -> Certificates | None:
    """The certificates a configuration names, None for plain listeners."""
    return Certificates(config) if config.cert is not None else None


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


def _for_grpc(material: Material) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(material.key, material.cert)], root_certificates=material.client_ca or None
    )


def _said(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error)
