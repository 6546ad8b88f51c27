"""Certificates for tests, made with the openssl command line: a CA, and who it vouches for. No tests here."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.support.tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path


class Authority:
    """A CA in a folder; `issue` gives a certificate and its key."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.ca, self._key = folder / f"{name}.crt", folder / f"{name}.key"
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            f"/CN={name}", "-keyout", str(self._key), "-out", str(self.ca),
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign",
        )  # fmt: skip

    def issue(self, subject: str, *alternatives: str) -> tuple[Path, Path]:
        """Return certificate and key of a subject; `alternatives` are its names, as in IP:127.0.0.1."""
        base = self._folder / f"{self._name}-{subject}"
        cert, key, request, more = (base.with_suffix(end) for end in (".crt", ".key", ".csr", ".ext"))
        _openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={subject}",
            "-keyout", str(key), "-out", str(request),
        )  # fmt: skip
        more.write_text(f"subjectAltName={','.join(alternatives or ('DNS:' + subject,))}\n", "utf-8")
        _openssl(
            "x509", "-req", "-in", str(request), "-CA", str(self.ca), "-CAkey", str(self._key), "-CAcreateserial",
            "-days", "2", "-extfile", str(more), "-out", str(cert),
        )  # fmt: skip
        return cert, key


def _openssl(*arguments: str) -> None:
    done = subprocess.run([need_tool("openssl", "openssl"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
