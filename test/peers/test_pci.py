#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-switch and quench-nic on PCI devices, which QEMU emulates: vfio-pci behind an IOMMU, hugepages, interrupts.

The guest is the switch between two quench-nics on this machine, or the peer of one.

    test_pci.py switch|nic|frames e1000e|virtio-net-pci|vmxnet3
"""
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
import image  # noqa: E402
from harness import PATIENCE_S, check, check_equal, check_ledger, finish, skip, work_dir  # noqa: E402
from namespaces import need  # noqa: E402
from pci import AS_SERVICE, PORTS, TAPS, nic_text, pci_guest, start_host, sum_of, tap_counters  # noqa: E402

MESSAGES, PACKETS = 200, 10  # of 10 KB
FRAMES = 1000000
LARGEST = {"e1000e": 9212, "virtio-net-pci": 9212, "vmxnet3": 9014}  # frames without FCS: vmxnet3's driver limits the MTU to 9000


def start_switch(guest, frame=1600, speeds=("1G", "1G")):
    said = guest.start("quench-switch", f"[switch]\nbuffer_bytes = 3MB\nmax_frame_bytes = {frame}\n" +
                       "".join(f"[port {i}]\ndevice = {PORTS[i]}\nlink_speed_bps = {speeds[i]}\n" for i in (0, 1)))
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


LOST = ("imissed", "ierrors", "oerrors", "rx_nombuf")


class Pair:
    """quench-nic in the guest and its peer on this machine. Either may be the requester."""

    def __init__(self, work, guest, name):
        self.work, self.guest, self.name = work, guest, name

    def run(self, guest_asks, flow, guest_nic="", host_nic="", lcores="-l 0", before=""):
        """@return results of the guest and of the peer, and what the tap counted"""
        idle = "requester = off\n" + "".join(line for line in flow.splitlines(True) if line.startswith(("mtu", "qp")))
        at_start = tap_counters(0)
        texts = [nic_text(1, 2, "200M", idle if guest_asks else flow, more=host_nic), nic_text(2, 1, "200M", flow if guest_asks else idle, more=guest_nic)]
        host = None
        if guest_asks:
            host = start_host(self.work, self.name.replace(" ", "_"), texts[0], 0, "--stay")
        self.said = self.guest.start("quench-nic", texts[1], *(() if guest_asks else ("--stay",)), lcores=lcores, ports=PORTS[:1], before=before)
        if guest_asks:
            self.guest.wait_end()
            host.stop()
        else:
            self.guest.wait_link()
            host = start_host(self.work, self.name.replace(" ", "_"), texts[0], 0)
            host.wait_end()
            self.guest.stop()
        after = tap_counters(0)
        return self.guest.result(), host.json(), {key: after[key] - at_start[key] for key in after}


def check_pair(work, guest, name, guest_asks, flow, messages, **more):
    pair = Pair(work, guest, name)
    own, peer, tap = pair.run(guest_asks, flow, **more)
    flow_result = (own if guest_asks else peer)["flows"][0]
    check_equal(f"{name}: messages, QPs failed", (flow_result["messages"], flow_result["qps_failed"]), (messages, 0))
    counters, device = own["counters"], own["port"]["device_stats"]
    check_equal(f"{name}: sent, as the program, the device and the cable count", (device["opackets"], tap["from_device"]), (counters["tx_packets"],) * 2)
    check_equal(f"{name}: received, likewise", (device["ipackets"], tap["to_device"]), (counters["rx_packets"],) * 2)
    check_equal(f"{name}: lost or wrong", [device[key] for key in LOST], [0] * 4)
    return own, peer, pair.said


def check_nic(work, guest):
    small, large = "message_bytes = 10KB\nmessages = 200\n", "message_bytes = 64KB\nmessages = 50\nmtu_bytes = 4096\n"
    for asks, who in ((True, "guest asks"), (False, "peer asks")):
        _, _, said = check_pair(work, guest, who, asks, small, 200)
        check("... and says what its port is", "pause" in said and "polling on lcore 0" in said, said)
        check_pair(work, guest, f"{who}, MTU 4096", asks, large, 50)
    # A slow receiver pauses its sender. QEMU and a tap carry pause frames, other than most bridges.
    slow = "[receiver]\ndrain_rate_bps = 20M\nxoff_bytes = 20KB\nxon_bytes = 10KB\n"
    for asks in (True, False):
        name = f"pause of {'the guest' if asks else 'its peer'}"
        own, peer, _ = check_pair(work, guest, name, asks, small, 200, **({"host_nic": slow} if asks else {"guest_nic": slow}))
        paused, pauses = (own, peer) if asks else (peer, own)
        got, sent = paused["port"]["rx_prio3_pause"], pauses["port"]["tx_prio3_pause"]
        # The requester may have ended before the last XON.
        check(f"{name}: pause frames arrive", 0 < got <= sent <= got + 1, (got, sent))
        check_equal(f"{name}: nothing is retransmitted", sum_of(paused["flows"], "retransmitted_packets"), 0)
    # Three lcores share the guest's CPU: as many queues as the device has.
    _, _, said = check_pair(work, guest, "several lcores", True, small + "qp_count = 4\n", 800, lcores="--lcores 0@0,1@0,2@0")
    check("... and says how many queues it uses", "receive queue" in said or "polling on lcore" in said, said)
    # EAL keeps the hugepages of a program that ended, in files that another user cannot remove.
    guest.must("rm /dev/hugepages/rtemap_*")
    check_pair(work, guest, "as user quench, with the capabilities of the unit", True, small, 200, before=AS_SERVICE)
    guest.give_back()
    guest.prepare()
    # Hot-unplug of the only device.
    guest.start("quench-nic", nic_text(2, 1, "200M", "requester = off"), ports=PORTS[:1])
    guest.wait_link()
    guest.guest.monitor("device_del d0")
    check_equal("without its device quench-nic ends as failed", guest.wait_end(), 1)
    said = guest.must("cat /tmp/out")
    check("... and says why", "the device was removed" in said and said.splitlines()[-1].endswith("no device is left"), said)
    check_equal("removals", sum_of(guest.result(), "device_removals"), 1)


def check_frames(work, guest):
    """More frames than the switch and its egress port can take: each is sent on, or in a counter with a name."""
    start_switch(guest, speeds=("1G", "40M"))
    before = [tap_counters(i) for i in (0, 1)]
    flow = f"message_bytes = 256\nmtu_bytes = 256\nverb = ud_send\nmessages = {FRAMES}"
    host = start_host(work, "sender", nic_text(1, 2, "100M", flow, "cc = none\nflow_control = off"), 0)
    host.process.wait(2 * PATIENCE_S)
    end, last = time.monotonic() + PATIENCE_S, None
    while (now := [tap_counters(i) for i in (0, 1)]) != last and time.monotonic() < end:
        last = now
        time.sleep(0.5)
    guest.stop()
    taps = [{key: n[key] - b[key] for key in n} for n, b in zip(now, before)]
    sent, result = host.json()["counters"]["tx_packets"], guest.result()
    ports = result["ports"]
    devices = [port["device_stats"] for port in ports]
    # What the device lost itself, device_missed, never was the switch's.
    drops = {name: sum(port["drops"][name] for port in ports) for name in ports[0]["drops"] if name != "device_missed"}
    print(f"sent {sent}, forwarded {taps[1]['from_device']}, dropped {[(name, n) for name, n in drops.items() if n]}, taps {taps}, devices {devices}")
    check_equal("frames sent", sent, FRAMES)
    # The kernel offers frames again that a full queue refused.
    check("sent = taken by the device, or refused by its queue", taps[0]["to_device"] <= sent <= taps[0]["to_device"] + taps[0]["refused"])
    check_equal("taken = received + lost by the device", taps[0]["to_device"], sum(devices[0][key] for key in ("ipackets", "imissed", "ierrors")))
    check_equal("received by the device = by the switch", devices[0]["ipackets"], ports[0]["rx_packets"])
    check_equal("received by the switch = forwarded + dropped", ports[0]["rx_packets"], ports[1]["tx_packets"] + sum(drops.values()))
    check("some were dropped", sum(drops.values()) > 0)
    check_ledger("switch", result)
    pauses = [port["tx_prio3_pause"] for port in ports]
    check_equal("sent by the switch = by the devices", [port["tx_packets"] + n for port, n in zip(ports, pauses)],
                [device["opackets"] + device["oerrors"] for device in devices])
    check_equal("sent by the devices = on the cables", [device["opackets"] for device in devices], [tap["from_device"] for tap in taps])


def main(case, model):
    need("ip")
    work = work_dir()
    checks = {"switch": (check_switch, ("quench-switch",)), "nic": (check_nic, ("quench-nic",)), "frames": (check_frames, ("quench-switch",))}
    try:
        with pci_guest(work, model, *checks[case][1]) as guest:
            checks[case][0](work, guest)
    except image.Missing as error:
        skip(str(error))
    finish()


main(*sys.argv[1:])
