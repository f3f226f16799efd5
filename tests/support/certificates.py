"""Certificates made while tests run, by openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path


def openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


class Authority:
    """A certificate authority in a folder: `ca.pem`, and what it signs."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.ca, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 2),
            *("-subj", f"/CN={name}", "-keyout", self._key, "-out", self.ca),
        )

    def issue(self, name: str) -> tuple[Path, Path]:
        """Certificate and key of `name`, good for localhost and for clients."""
        cert, key, asked, more = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
        more.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", f"/CN={name}", "-keyout", key, "-out", asked),
        )
        openssl(
            *("x509", "-req", "-in", asked, "-CA", self.ca, "-CAkey", self._key, "-CAcreateserial", "-days", 2),
            *("-extfile", more, "-out", cert),
        )
        return cert, key

    def chain(self, name: str) -> Path:
        """Certificate and key in one file, as clients take them."""
        cert, key = self.issue(name)
        both = self.folder / f"{name}-both.pem"
        both.write_bytes(cert.read_bytes() + key.read_bytes())
        return both
