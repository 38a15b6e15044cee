#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch and quench-nic on PCI devices, which QEMU emulates: vfio-pci behind an IOMMU, hugepages, interrupts.

The guest is the switch between two quench-nics on this machine, or the peer of one.

    test_pci.py switch e1000e|virtio-net-pci|vmxnet3
"""
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
import image  # noqa: E402
from harness import PATIENCE_S, check, check_equal, finish, skip, work_dir  # noqa: E402
from namespaces import need  # noqa: E402
from pci import PORTS, TAPS, nic_text, pci_guest, start_host, sum_of, tap_counters  # noqa: E402

MESSAGES, PACKETS = 200, 10  # of 10 KB
LARGEST = {"e1000e": 9212, "virtio-net-pci": 9212, "vmxnet3": 9014}  # frames without FCS: vmxnet3's driver limits the MTU to 9000


def switch_text(frame=1600):
    return (f"[switch]\nbuffer_bytes = 3MB\nmax_frame_bytes = {frame}\n" +
            "".join(f"[port {i}]\ndevice = {address}\nlink_speed_bps = 1G\n" for i, address in enumerate(PORTS)))


def start_switch(guest, frame=1600):
    said = guest.start("quench-switch", switch_text(frame), "--idle-sleep 50 --stats-interval 0")
    guest.wait_link(2)
    return said


def check_exchange(work, name):
    """Messages from one host to the other."""
    hosts = []
    for i, (own, peer) in enumerate(((1, 2), (2, 1))):
        flow = "requester = off" if i else f"message_bytes = {PACKETS}KB\nmessages = {MESSAGES}"
        hosts.append(start_host(work, f"{name}_{own}".replace(" ", "_"), nic_text(own, peer, "20M", flow), i, *(("--stay",) if i else ())))
    hosts[0].wait_end()
    hosts[1].stop()
    flow = hosts[0].json()["flows"][0]
    check_equal(f"{name}: messages, QPs failed", (flow["messages"], flow["qps_failed"]), (MESSAGES, 0))


def check_lengths(guest):
    """Frames up to the largest, with lengths beside those to which drivers round buffers."""
    start_switch(guest, 9216)
    taps = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5)) for _ in TAPS]
    for sock, tap in zip(taps, TAPS):
        sock.bind((tap, 0x88B5))
        sock.settimeout(PATIENCE_S)
    head = bytes.fromhex("020000000102" "020000000101" "88b5")
    for length in sorted({60, 1514, 2048, 4096, 8192, 9014, LARGEST[guest.model]}):
        frame = head + bytes(i % 251 for i in range(length - len(head)))
        taps[0].send(frame)
        while True:  # own frames are seen too
            got, where = taps[1].recvfrom(16384)
            if where[2] != socket.PACKET_OUTGOING:
                break
        check(f"a frame of {length} bytes arrives whole", got == frame, (len(got), got[:32].hex()))
    for sock in taps:
        sock.close()
    guest.stop()
    result = guest.result()
    check_equal("large frames: none is lost or has an error", [sum_of(result, key) for key in ("imissed", "ierrors", "oerrors", "rx_nombuf")], [0] * 4)


def check_removal(work, guest):
    """Hot-unplug: vfio asks for the device, the switch releases it, and the other port stays."""
    start_switch(guest)
    guest.must(": >/tmp/out")
    guest.guest.monitor("device_del d0")
    guest.wait_for("port 0 .*: the device was removed")
    guest.must(f"while [ -e /sys/bus/pci/devices/{PORTS[0]} ]; do usleep 100000; done")
    said = guest.must("cat /tmp/out")
    check("the removal has one line", len(said.splitlines()) == 1, said)
    # Frames for the missing port have a counter, and the switch forwards no others.
    before = tap_counters(1)["to_device"]
    host = start_host(work, "removed", nic_text(2, 1, "20M", "message_bytes = 1KB\nverb = ud_send"), 1, "--duration", 0.5)
    host.wait_end()
    end = time.monotonic() + PATIENCE_S
    while tap_counters(1)["to_device"] - before < host.json()["counters"]["tx_packets"] and time.monotonic() < end:
        time.sleep(0.05)
    guest.must("kill -0 $(cat /tmp/pid)")
    guest.stop()
    result = guest.result()
    sent = host.json()["counters"]["tx_packets"]
    check("frames for the removed port are counted as link_down", sent > 0 and sum_of(result, "link_down") == sent, (sent, sum_of(result, "link_down")))
    check_equal("removals", sum_of(result, "device_removals"), 1)
    guest.must(f"[ -e /sys/bus/pci/devices/{PORTS[1]} ]")


def check_switch(work, guest):
    said = start_switch(guest)
    check("nothing is wrong at the start", "error" not in said, said)
    model = guest.model
    check_exchange(work, f"{model}")
    if model != "vmxnet3":  # QEMU does not tell this one of its link
        for state, words in (("off", "port 0 .*: link is down"), ("on", "port 0 .*: link is up")):
            guest.must(": >/tmp/out")
            guest.guest.monitor(f"set_link d0 {state}")
            guest.wait_for(words)
        check_exchange(work, f"{model} after its link was down")
    guest.stop("KILL")
    start_switch(guest)
    check_exchange(work, f"{model} after kill -9 and a second start")
    guest.stop()
    result = guest.result()
    # ARP is answered by the NICs themselves; nobody else speaks on the taps.
    sent, came = (sum_of(result, key) for key in ("tx_packets", "rx_packets"))
    check("frames in and out", came >= MESSAGES * PACKETS and sent > 0, (came, sent))
    check_lengths(guest)
    check_removal(work, guest)


def main(case, model):
    need("ip")
    work = work_dir()
    checks = {"switch": (check_switch, ("quench-switch",))}
    try:
        with pci_guest(work, model, *checks[case][1]) as guest:
            checks[case][0](work, guest)
    except image.Missing as error:
        skip(str(error))
    finish()


main(*sys.argv[1:])
