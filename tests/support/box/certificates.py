"""Certificates for tests, made with the openssl command line: a CA and the certificates that it issues."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING, Final

from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path


# `openssl ca` accepts dates in the past, which `openssl x509` does not.
_CONFIG: Final = """[ca]
default_ca = it
[it]
new_certs_dir = {folder}
database = {folder}/index-{name}.txt
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


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

    def issue(self, subject: str, *alternatives: str, days: float = 2, begins: float = -1) -> tuple[Path, Path]:
        """Return certificate and key of a subject; `alternatives` are its names, as in IP:127.0.0.1.

        It is valid from `begins` until `days` days after now; both may be in the past.
        """
        base = self._folder / f"{self._name}-{subject}"
        cert, key, request, more = (base.with_suffix(end) for end in (".crt", ".key", ".csr", ".cnf"))
        names = ",".join(alternatives or ("DNS:" + subject,))
        _openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={subject}",
            "-keyout", str(key), "-out", str(request), "-addext", f"subjectAltName={names}",
        )  # fmt: skip
        more.write_text(_CONFIG.format(folder=self._folder, name=self._name), "utf-8")
        (self._folder / f"index-{self._name}.txt").touch()
        _openssl(
            "ca", "-batch", "-notext", "-config", str(more), "-in", str(request), "-cert", str(self.ca), "-keyfile",
            str(self._key), "-startdate", _moment(begins), "-enddate", _moment(days), "-out", str(cert),
        )  # fmt: skip
        return cert, key


def _moment(days: float) -> str:
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + days * 86_400))


def _openssl(*arguments: str) -> None:
    done = subprocess.run([need_tool("openssl", "openssl"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
