"""Which modules the USB guest loads, in which order: by the kernel's own tables, for any version."""

from __future__ import annotations

import pytest

from tools.vhci import KERNEL_MODULES, load_order

# As depmod writes it: of two kernels between which virtio and virtio_ring changed places.
OLDER = """kernel/fs/9p/9p.ko: kernel/9pnet.ko kernel/fs/fscache/fscache.ko kernel/fs/netfs/netfs.ko
kernel/drivers/virtio/virtio.ko:
kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko
kernel/drivers/usb/usbip/vhci-hcd.ko: kernel/drivers/usb/usbip/usbip-core.ko kernel/drivers/usb/core/usbcore.ko
kernel/net/9p/9pnet_virtio.ko: kernel/9pnet.ko kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko
"""
NEWER = OLDER.replace(
    "virtio_ring.ko kernel/drivers/virtio/virtio.ko", "virtio.ko kernel/drivers/virtio/virtio_ring.ko"
)


def names(order: list[str]) -> list[str]:
    return [file.rpartition("/")[2].partition(".")[0] for file in order]


@pytest.mark.parametrize(
    ("table", "first"), [(OLDER, ["virtio", "virtio_ring"]), (NEWER, ["virtio_ring", "virtio"])], ids=["older", "newer"]
)
def test_what_a_module_needs_is_loaded_before_it_and_once(table: str, first: list[str]) -> None:
    order = names(load_order(KERNEL_MODULES, table, ""))
    assert order[:3] == [*first, "virtio_pci"]
    assert order.index("9pnet") < order.index("9pnet_virtio") < order.index("9p")
    assert order.index("netfs") < order.index("fscache") < order.index("9p")
    assert order[-3:] == ["usbcore", "usbip-core", "vhci-hcd"]
    assert len(order) == len(set(order))


def test_pressed_modules_are_found_too() -> None:
    assert load_order(["vhci_hcd"], "kernel/usbip/vhci-hcd.ko.xz: kernel/usbip/usbip-core.ko.xz\n", "") == [
        "kernel/usbip/usbip-core.ko.xz",
        "kernel/usbip/vhci-hcd.ko.xz",
    ]


def test_what_the_kernel_has_built_in_is_not_loaded_and_what_it_lacks_is_named() -> None:
    remaining = "\n".join(line for line in OLDER.splitlines() if "/9p.ko:" not in line)
    assert "9p" not in names(load_order(KERNEL_MODULES, remaining, "kernel/fs/9p/9p.ko\n"))
    with pytest.raises(LookupError, match="no module 9p"):
        load_order(KERNEL_MODULES, remaining, "")
