"""Runs tests/hardware/test_vhci.py in a QEMU guest whose kernel has vhci_hcd.

python -m tools.vhci [FOLDER]      keeps Debian's kernel (70 MB) in FOLDER (default: build/vhci)

The guest boots Debian's kernel from an initial file system of a few modules, mounts this computer's files read-only,
and runs pytest there. The kernel's own modules.dep gives the modules and their order. Software emulation needs nothing
of this computer's kernel; it takes a minute or two.
"""

from __future__ import annotations

import gzip
import lzma
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = "linux-image-amd64"
# Kernel modules for the shared file system and for USB over IP; modules.dep adds what they need.
KERNEL_MODULES: Final = ("virtio_pci", "9pnet_virtio", "9p", "vhci_hcd")
TOOLS: Final = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "depmod": "kmod",
    "usbip": "usbip",
    "apt-get": "apt",
}
# Seconds. Ten times what it needs.
LIMIT: Final = 600
PASSED: Final = "guest: all passed"
# The exit code for a computer that lacks what this needs.
LACKING: Final = 2
# Compression of a kernel module by the suffix of its file.
_UNPACK: Final[dict[str, Callable[[bytes], bytes]]] = {".ko": bytes, ".gz": gzip.decompress, ".xz": lzma.decompress}

# CI=true: a test that lacks a requirement fails instead of being skipped.
INIT: Final = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys
for module in {modules}; do insmod /modules/$module; done
ifconfig lo 127.0.0.1 up
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
mount -t proc proc /host/proc; mount -t sysfs sys /host/sys
mount -t devtmpfs dev /host/dev; mount -t tmpfs tmp /host/run
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run CI=true
export PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/run
test -d /sys/module/vhci_hcd && cd / && chroot /host /bin/sh -c {command} && echo {passed}
poweroff -f
"""
COMMAND: Final = "cd {root} && {python} -m pytest tests/hardware/test_vhci.py -v -p no:cacheprovider"


def main() -> int:
    """Fetch the kernel, boot, print the guest's output; return 0 if all tests passed, 2 if a requirement is missing."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "vhci").resolve()
    if lacking := lacks():
        print(lacking)
        return LACKING
    folder.mkdir(parents=True, exist_ok=True)
    kernel = _kernel(folder)
    initrd = folder / f"initrd-{os.getpid()}.gz"
    initrd.write_bytes(gzip.compress(_file_system(kernel), 1))
    try:
        booted = _run(
            "qemu-system-x86_64", "-accel", "tcg", "-m", "1024", "-nographic", "-no-reboot", "-nic", "none",
            "-kernel", str(next((kernel / "boot").glob("vmlinuz-*"))), "-initrd", str(initrd),
            "-append", "console=ttyS0 loglevel=1 panic=-1",
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        )  # fmt: skip
    finally:
        initrd.unlink()
    print(booted)
    return 0 if PASSED in booted else 1


def lacks() -> str:
    """Return what this computer lacks and how to get it, or ""."""
    if platform.machine() != "x86_64":
        return f"the guest runs this computer's programs on an x86-64 kernel, and this is {platform.machine()}"
    missing = {tool: package for tool, package in TOOLS.items() if _tool(tool) is None}
    if missing:
        return f"{', '.join(missing)}: not installed (apt install {' '.join(missing.values())})"
    if b"/ld-linux" in Path(str(_tool("busybox"))).read_bytes():
        return "busybox needs libraries that the guest does not have (apt install busybox-static)"
    return ""


def load_order(modules: Iterable[str], dependencies: str, builtin: str) -> list[str]:
    """Return the files of the modules and of their dependencies, each after its own dependencies.

    `dependencies` is the text of modules.dep: a file and its dependencies per line, the first to load last. Modules in
    `builtin` (modules.builtin) are part of the kernel. Raises LookupError for a module that is in neither.
    """
    needs = {}
    for line in dependencies.splitlines():
        file, _, needed = line.partition(":")
        needs[_name(file)] = [*reversed(needed.split()), file]
    inside = {_name(file) for file in builtin.split()}
    order: dict[str, None] = {}
    for module in modules:
        if module in needs:
            order.update(dict.fromkeys(needs[module]))
        elif module not in inside:
            raise LookupError(f"this kernel has no module {module}; find its replacement")
    return list(order)


def _name(file: str) -> str:
    """Return a module's name from its file: drivers/usb/usbip/vhci-hcd.ko.xz is vhci_hcd."""
    return Path(file).name.partition(".")[0].replace("-", "_")


def _tool(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _run(program: str, *arguments: str, folder: Path = ROOT) -> str:
    """Run a program; return its output."""
    command = [str(_tool(program)), *arguments]
    done = subprocess.run(  # noqa: S603 - the programs are named above
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT, check=True
    )
    return done.stdout.decode(errors="replace")


def _kernel(folder: Path) -> Path:
    """Return the folder of Debian's newest kernel, unpacked; download it if it is missing."""
    name = _run("apt-cache", "depends", PACKAGE).partition("Depends: ")[2].split()[0]
    unpacked = folder / name
    if not unpacked.exists():
        fresh = folder / f"{name}.{os.getpid()}"
        fresh.mkdir()
        _run("apt-get", "download", name, folder=fresh)
        (package,) = fresh.glob("*.deb")
        _run("dpkg-deb", "-x", str(package), str(fresh))
        package.unlink()
        _run("depmod", "-b", str(fresh), _modules(fresh).name)
        fresh.replace(unpacked)
    return unpacked


def _modules(kernel: Path) -> Path:
    """Return the folder of a kernel's modules, named by its version."""
    return next((kernel / "lib" / "modules").iterdir())


def _file_system(kernel: Path) -> bytes:
    """Return the guest's initial file system, as a cpio archive."""
    modules = _modules(kernel)
    tables = ((modules / table).read_text() for table in ("modules.dep", "modules.builtin"))
    files_by_module = {_name(file): modules / file for file in load_order(KERNEL_MODULES, *tables)}
    command = COMMAND.format(root=shlex.quote(str(ROOT)), python=shlex.quote(sys.executable))
    init = INIT.format(modules=" ".join(files_by_module), command=shlex.quote(command), passed=PASSED)
    files = {"init": init.encode(), "bin/busybox": Path(str(_tool("busybox"))).read_bytes()}
    for name, file in files_by_module.items():
        files[f"modules/{name}"] = _UNPACK[file.suffix](file.read_bytes())
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
