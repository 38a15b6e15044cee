#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-nic and the Linux kernel's soft-RoCE, in a guest: all verbs both ways, and what each says of the other's mistakes.

Numbers of QPs, PSNs, keys and addresses are known to both sides beforehand: verbs.c is the kernel's program. The kernel checks each byte that
quench sends; the bytes that the kernel sends are taken from the wire.

    test_verbs.py short|all
"""
import pathlib
import re
import socket
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
# pylint: disable=wrong-import-position
from harness import Program, check, check_equal, eal, finish  # noqa: E402
from soft_roce import GUEST4, GUEST6, IP4, IP6, MAC, SoftRoce, soft_roce  # noqa: E402

LOCAL_QPN, PSN = 512, 0xFFFFF0  # the PSN wraps
SECONDS = 40


class Kernel(SoftRoce):
    """The guest's side of a case: verbs.c."""

    def begin(self, **keys):
        """Start verbs.c. @return its QPs' first number, address and key"""
        self.must("rm -f /tmp/go /tmp/stop /tmp/log")
        words = " ".join(f"{key}={value}" for key, value in keys.items())
        self.must(f"verbs peer_qpn={LOCAL_QPN} psn={PSN} seconds={SECONDS} {words} >/tmp/log 2>&1 &")
        said = self.must("while ! grep -qs -e ready -e failed /tmp/log; do usleep 50000; done; cat /tmp/log")
        if "ready" not in said:
            raise RuntimeError(f"verbs {words}: {said}")
        return dict(word.split("=") for word in said.splitlines()[0].split()[1:])

    def go(self):
        self.must("touch /tmp/go")

    def end(self, stop=True):
        """@return what it printed after ready"""
        if stop:
            self.must("touch /tmp/stop")
        return self.must("while ! grep -q done /tmp/log; do usleep 50000; done; tail -n +2 /tmp/log")


class Case:
    """One flow between the two."""

    def __init__(self, kernel, name, **keys):
        self.kernel, self.name = kernel, name
        self.keys = {"verb": "send", "size": 1024, "count": 20, "mtu": 1024, "qps": 1, "version": 4, **keys}
        self.more = self.keys.pop("more", "")
        self.of_nic = self.keys.pop("nic", "")
        self.of_program = self.keys.pop("program", {})

    def nic(self, ready, requester):
        k = self.keys
        flow = [f"peer_ip = {GUEST4 if k['version'] == 4 else GUEST6}", f"peer_qpn = {ready['qpn']}", f"local_qpn = {LOCAL_QPN}",
                f"initial_psn = {PSN}", f"qp_count = {k['qps']}", f"mtu_bytes = {k['mtu']}", f"requester = {'on' if requester else 'off'}"]
        if requester or k["verb"] == "read":
            flow.append(f"verb = {k['verb']}")
        if requester:
            flow += [f"message_bytes = {k['size']}", f"messages = {k['count']}"]
            if k["verb"] != "send":
                flow += [f"remote_addr = {ready['addr']}", f"remote_addr_stride = {k['size']}"]
            if k["verb"] != "send" and "rkey" not in self.more:
                flow.append(f"rkey = {ready['rkey']}")
        text = f"[nic]\nmac = {MAC}\nip = {IP4}\nip6 = {IP6}\nlink_speed_bps = 100M\nlocal_ack_timeout = 18\n{self.of_nic}\n[flow f]\n" + "\n".join(flow) + f"\n{self.more}\n"
        program = Program(self.kernel.work, "nic", self.name.replace(" ", "_"), text, eal(self.kernel.device()),
                          "--idle-sleep", 50, "--stats-interval", 0.25, *(() if requester else ("--stay",)))
        program.wait_started()
        return program

    def mtu(self):
        return {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[self.keys["mtu"]]

    def arguments(self, verb):
        k = self.keys
        return {"verb": verb, "qps": k["qps"], "mtu": self.mtu(), "gid": self.kernel.gids[k["version"]], "peer": IP4 if k["version"] == 4 else IP6,
                "size": k["size"], "count": k["count"], **self.of_program}

    def from_quench(self):
        """quench-nic asks. @return (its flow's results, what the kernel's program said)"""
        verb = self.keys["verb"]
        ready = self.kernel.begin(**self.arguments("source" if verb == "read" else "serve"))
        self.kernel.go()
        nic = self.nic(ready, True)
        nic.wait_end()  # all messages are acknowledged, or the QPs have failed
        said = self.kernel.end()
        return nic.json(), said

    def from_kernel(self):
        """The kernel asks."""
        ready = self.kernel.begin(**self.arguments(self.keys["verb"]))
        nic = self.nic(ready, False)
        self.kernel.go()
        said = self.kernel.end(stop=False)
        nic.stop()
        return nic.json(), said


def completions(said):
    found = re.search(r"done completions=(\d+) bytes=(\d+) wrong=(\d+)", said)
    return tuple(map(int, found.groups())) if found else said


def check_both(kernel, name, **keys):
    """A verb from quench to the kernel and back: every message arrives, and every byte is as documented."""
    size, n, verb = keys.get("size", 1024), keys.get("count", 20) * keys.get("qps", 1), keys["verb"]
    result, said = Case(kernel, f"{name} from quench", **keys).from_quench()
    flow = result["flows"][0]
    check_equal(f"{name}, from quench: messages, QPs done, failed", [flow[key] for key in ("messages", "qps_done", "qps_failed")],
                [n, keys.get("qps", 1), 0])
    if verb == "send":
        check_equal(f"{name}, from quench: received by the kernel, with these bytes", completions(said), (n, n * size, 0))
    elif verb == "write":
        check_equal(f"{name}, from quench: the kernel's memory", completions(said)[2], 0)
    _, said = Case(kernel, f"{name} from the kernel", **keys).from_kernel()
    got = completions(said)
    check_equal(f"{name}, from the kernel: completions", got[:2], (n, n * size))
    if verb == "read":
        check_equal(f"{name}, from the kernel: bytes as documented", got[2], 0)


def check_bytes_of_kernel(kernel):
    """What the kernel writes goes over the wire byte for byte, and quench answers it."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        wire.bind((kernel.tap, 0))
        wire.setblocking(False)
        _, said = Case(kernel, "bytes of the kernel", verb="write", size=5000, count=1).from_kernel()
        check_equal("bytes of the kernel: completions", completions(said)[0], 1)
        parts = {} # by PSN: a slow guest sends some again
        while True:
            try:
                frame, where = wire.recvfrom(65536)
            except BlockingIOError:
                break
            # From the guest, IPv4 without options, to RoCE: WRITE First, Middle, Last. RETH follows the BTH of the first.
            if where[2] == socket.PACKET_OUTGOING or frame[12:14] != b"\x08\x00" or frame[36:38] != b"\x12\xb7" or frame[42] not in (6, 7, 8):
                continue
            end = 14 + int.from_bytes(frame[16:18], "big") - 4 - (frame[43] >> 4 & 3)
            parts[int.from_bytes(frame[51:54], "big")] = frame[42 + 12 + (16 if frame[42] == 6 else 0):end]
    payload = b"".join(parts.values())
    check("bytes of the kernel: as its program wrote them", payload == bytes(i % 251 for i in range(5000)), payload[:64].hex())


def check_mistakes(kernel):
    """Wrong keys, and receivers that are not ready."""
    for verb in ("write", "read"):
        case = Case(kernel, f"{verb} with a wrong key", verb=verb, count=2, more="rkey = 1")
        result, _ = case.from_quench()
        check_equal(f"{case.name}: the kernel refuses, and the QP fails", (result["flows"][0]["qps_failed"], result["flows"][0]["completions"]), (1, 0))
        region = "local_addr = 4096\nlocal_bytes = 8KB\nlocal_rkey = 77"
        for key, address, count in ((77, 4096, 2), (78, 4096, 0), (77, 4096 + 8192 - 1023, 0)):
            case = Case(kernel, f"kernel {verb} key {key} at {address}", verb=verb, count=2, more=region, program={"raddr": address, "rkey": key})
            result, said = case.from_kernel()
            check_equal(f"{case.name}: completions", completions(said)[0], count)
            check_equal(f"{case.name}: the error", "remote access error" in said, count == 0)
            check_equal(f"{case.name}: counted", result["counters"]["resp_remote_access_errors"] > 0, count == 0)
    # The kernel has 16 READs outstanding, of which quench agreed to 16, or to one.
    for most in (16, 1):
        case = Case(kernel, f"16 READs of the kernel at most {most}", verb="read", size=1000, count=20, more="rate_cap_bps = 1M", nic=f"max_rd_atomic = {most}",
                    program={"depth": 16, "rd_atomic": 16, "timeout": 18})
        result, said = case.from_kernel()
        check_equal(f"{case.name}: all are answered", completions(said)[0] == 20, most == 16)
        check_equal(f"{case.name}: refused", "remote invalid request error" in said, most == 1)
        check_equal(f"{case.name}: counted", result["counters"]["drop_unexpected_opcode"] > 0, most == 1)
    # One receive buffer and no more: the second message is refused until its sender gives up.
    case = Case(kernel, "kernel without buffers", verb="send", count=2, program={"recv": 1, "rnr_timer": 1}, nic="rnr_retry = 3")
    result, said = case.from_quench()
    check_equal(f"{case.name}: one message, and the QP fails", (completions(said)[0], result["flows"][0]["qps_failed"]), (1, 1))
    check(f"{case.name}: RNR NAKs", result["counters"]["rnr_naks_received"] >= 4 and result["counters"]["rnr_nak_retry_err"] == 1, result["counters"])
    # The kernel's program does nothing for a second. Its kernel answers a refused flight with an RNR NAK and a NAK of the same PSN.
    case = Case(kernel, "kernel that posts no buffer for a second", verb="send", size=2500)
    ready = kernel.begin(**case.arguments("serve"))
    kernel.go()
    kernel.must("killall -STOP verbs")
    nic = case.nic(ready, True)
    kernel.must("sleep 1; killall -CONT verbs")
    nic.wait_end()
    check_equal(f"{case.name}: all arrive in the end", completions(kernel.end()), (20, 50000, 0))
    check(f"{case.name}: after RNR NAKs", nic.json()["counters"]["rnr_naks_received"] > 0, nic.json()["counters"])
    case = Case(kernel, "quench without buffers", verb="send", count=20, more="max_recv_wr = 1\npost_recv_ns = 30ms")
    result, said = case.from_kernel()
    check_equal(f"{case.name}: all arrive in the end", completions(said)[0], 20)
    check(f"{case.name}: after RNR NAKs", result["counters"]["rnr_naks_sent"] > 0, result["counters"])


def check_bad_wire(kernel):
    """Packets are lost, doubled and out of order, data as well as ACKs: those that the kernel sends, and those that it receives."""
    kernel.must("/bin/ip link set ifb0 up && /bin/tc qdisc add dev eth0 ingress && "
                "/bin/tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0")
    for device, way in (("eth0", "out"), ("ifb0", "in")):
        for how in ("loss 3%", "duplicate 5%", "delay 2ms reorder 75% 25%"):
            kernel.must(f"/bin/tc qdisc replace dev {device} root netem limit 10000 {how}")
            for verb in ("write", "read"):
                n = 40
                case = Case(kernel, f"{verb} with {how} {way}", verb=verb, size=5000, count=n)
                result, _ = case.from_quench()
                check_equal(f"{case.name}: from quench", [result["flows"][0][key] for key in ("messages", "qps_failed")], [n, 0])
                _, said = case.from_kernel()
                check_equal(f"{case.name}: from the kernel", completions(said)[:2], (n, n * 5000))
                check(f"{case.name}: no byte is wrong", verb != "read" or completions(said)[2] == 0, said)
        counted = kernel.must(f"/bin/tc -s qdisc show dev {device} root")
        check(f"packets went through netem, {way}", int(re.search(r"Sent \d+ bytes (\d+) pkt", counted).group(1)) > 100, counted)
        kernel.must(f"/bin/tc qdisc del dev {device} root")


def check_restart(kernel):
    """The kernel's program is killed in the middle: quench gives up, and its next run finds the new QPs."""
    case = Case(kernel, "peer killed", verb="write", count=100000, nic="retry_cnt = 2")
    ready = kernel.begin(**case.arguments("serve"))
    nic = case.nic(ready, True)
    nic.wait_until("frames", lambda: len(re.findall(r"[1-9][\d.]* k?pps", nic.out())) > 2)
    kernel.must("killall verbs")
    nic.wait_end()
    check_equal("peer killed: the QP fails", nic.json()["flows"][0]["qps_failed"], 1)
    check_both(kernel, "after a restart", verb="write")


def check_all(kernel):
    for verb in ("send", "write", "read"):
        for size in (0, 1, 1023, 1024, 1025):
            check_both(kernel, f"{verb} of {size} bytes", verb=verb, size=size)
        check_both(kernel, f"{verb} of 1 MB", verb=verb, size=1 << 20, count=2)
        check_both(kernel, f"{verb} over IPv6, MTU 4096", verb=verb, size=10000, mtu=4096, version=6)
        check_both(kernel, f"{verb} by 64 QPs", verb=verb, size=2000, count=3, qps=64)
    check_bytes_of_kernel(kernel)
    check_mistakes(kernel)
    check_bad_wire(kernel)
    check_restart(kernel)


def main(cases):
    with soft_roce(Kernel) as kernel:
        if cases == "short":
            for verb in ("send", "write", "read"):
                check_both(kernel, f"{verb} of 2500 bytes", verb=verb, size=2500)
            check_bytes_of_kernel(kernel)
        else:
            check_all(kernel)
    finish()


main(sys.argv[1])
