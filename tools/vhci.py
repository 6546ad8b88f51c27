"""Runs tests/hardware/test_vhci.py on a computer with the kernel's vhci_hcd: a small one, made in QEMU.

python -m tools.vhci [FOLDER]      needs qemu-system-x86_64, busybox and usbip; keeps Debian's kernel (70 MB) in FOLDER

The guest boots Debian's kernel from an initial file system of a few modules, mounts this computer's files read-only,
and runs pytest from there. Software emulation: a minute or two.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = "linux-image-amd64"
# What the guest needs, in the order of loading: the shared file system, then USB.
MODULES: Final = (
    "virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "netfs", "fscache",
    "9pnet", "9pnet_virtio", "9p", "usb-common", "usbcore", "usbip-core", "vhci-hcd",
)  # fmt: skip
# Seconds. Ten times what it needs.
LIMIT: Final = 600
PASSED: Final = "guest: all passed"

INIT: Final = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys
for module in {modules}; do insmod /modules/$module.ko; done
ifconfig lo 127.0.0.1 up
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
mount -t proc proc /host/proc; mount -t sysfs sys /host/sys
mount -t devtmpfs dev /host/dev; mount -t tmpfs tmp /host/run
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/run
test -d /sys/module/vhci_hcd && chroot /host /bin/sh -c \
  'cd "{root}" && "{python}" -m pytest tests/hardware -v -p no:cacheprovider' && echo {passed}
poweroff -f
"""


def main() -> int:
    """Fetch what is missing, boot, show the guest's words; 0 if all tests passed."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "vhci").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    missing = [tool for tool in ("qemu-system-x86_64", "busybox", "usbip", "apt-get") if _tool(tool) is None]
    if missing:
        print(f"missing: {', '.join(missing)}; try apt install qemu-system-x86 busybox-static usbip")
        return 2
    kernel = _kernel(folder)
    initrd = folder / "initrd.gz"
    initrd.write_bytes(gzip.compress(_file_system(kernel), 1))
    booted = _run(
        "qemu-system-x86_64", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none",
        "-kernel", str(next((kernel / "boot").glob("vmlinuz-*"))), "-initrd", str(initrd),
        "-append", "console=ttyS0 loglevel=1 panic=-1",
        "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
    )  # fmt: skip
    print(booted)
    return 0 if PASSED in booted else 1


def _tool(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _run(program: str, *arguments: str, folder: Path = ROOT) -> str:
    """Run a program to its end; return what it printed."""
    command = [str(_tool(program)), *arguments]
    done = subprocess.run(  # noqa: S603 - the programs are named above
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT, check=True
    )
    return done.stdout.decode(errors="replace")


def _kernel(folder: Path) -> Path:
    """Return the folder of Debian's unpacked kernel, fetched if it is not there."""
    unpacked = folder / "kernel"
    if not unpacked.exists():
        name = _run("apt-cache", "depends", PACKAGE).partition("Depends: ")[2].split()[0]
        _run("apt-get", "download", name, folder=folder)
        _run("dpkg-deb", "-x", str(next(folder.glob(f"{name}_*.deb"))), str(unpacked))
    return unpacked


def _file_system(kernel: Path) -> bytes:
    """Return the guest's initial file system, as a cpio archive."""
    init = INIT.format(modules=" ".join(MODULES), root=ROOT, python=sys.executable, passed=PASSED)
    files = {"init": init.encode(), "bin/busybox": Path(str(_tool("busybox"))).read_bytes()}
    for name in MODULES:
        files[f"modules/{name}.ko"] = next(kernel.rglob(f"{name}.ko")).read_bytes()
    folders = ["bin", "modules", "proc", "sys", "host"]
    entries = [_entry(name, 0o040755, b"") for name in folders]
    entries += [_entry(name, 0o100755, data) for name, data in files.items()]
    return b"".join([*entries, _entry("TRAILER!!!", 0, b"")])


def _entry(name: str, mode: int, data: bytes) -> bytes:
    """Return one file in the form that the kernel unpacks (newc): thirteen hex numbers, name, content."""
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name.encode() + b"\0"
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


if __name__ == "__main__":
    sys.exit(main())
