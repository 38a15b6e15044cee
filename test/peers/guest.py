# SPDX-License-Identifier: BSD-3-Clause
"""A guest with soft-RoCE under QEMU, without KVM, joined to this machine by taps."""
from __future__ import annotations

import base64
import contextlib
import pathlib
import socket
import subprocess
import time
import types
import typing

BOOT_S = 240  # ten seconds of CPU; the machine may be busy


class Guest(contextlib.AbstractContextManager["Guest"]):
    """Boots on entry, and is killed on exit. taps: names of tap devices of this network namespace, eth0, eth1, ... of the guest."""

    def __init__(self, folder: pathlib.Path, image: tuple[pathlib.Path, pathlib.Path], taps: typing.Sequence[str] = (), namespace: str = "",
                 more: typing.Sequence[str] = (), memory_mb: int = 384,
                 append: str = "") -> None:
        self.folder, self.image, self.taps, self.more, self.memory_mb, self.append = folder, image, taps, more, memory_mb, append
        self.namespace = ["ip", "netns", "exec", namespace] if namespace else []
        self.buffer = b""

    def __enter__(self) -> Guest:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "agent.sock"
        command = [*self.namespace, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", str(self.memory_mb), "-nodefaults", "-no-user-config",
                   "-display", "none", "-no-reboot", "-kernel", str(self.image[0]), "-initrd", str(self.image[1]), "-append",
                   f"console=ttyS0 quiet panic=-1 mitigations=off {self.append}", "-monitor", f"unix:{self.folder}/monitor.sock,server=on,wait=off", "-serial", f"file:{self.folder}/console.log", "-chardev",
                   f"socket,id=agent,path={path},server=on,wait=off", "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=agent"]
        for i, tap in enumerate(self.taps):
            # Segments and checksums must be on the wire as a NIC would send them.
            off = "csum=off,guest_csum=off,gso=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,host_tso4=off,host_tso6=off,host_ufo=off"
            command += ["-netdev", f"tap,id=n{i},ifname={tap},script=no,downscript=no", "-device", f"virtio-net-pci,netdev=n{i},mac=02:00:00:00:01:{i:02x},{off}"]
        command += self.more
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            self.agent = self._connect(path)
            while self._line(BOOT_S) != "ready":
                pass
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _connect(self, path: pathlib.Path) -> socket.socket:
        end = time.monotonic() + BOOT_S
        agent = socket.socket(socket.AF_UNIX)
        while True:
            try:
                agent.connect(str(path))
                return agent
            except OSError as error:
                if self.process.poll() is not None:
                    said = self.process.stdout.read().decode(errors="replace") if self.process.stdout else ""
                    raise RuntimeError(f"QEMU ended: {said}") from error
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def _line(self, timeout: float) -> str:
        self.agent.settimeout(timeout)
        while b"\n" not in self.buffer:
            try:
                more = self.agent.recv(65536)
            except TimeoutError as error:
                raise RuntimeError(f"the guest says nothing for {timeout} s: {self.console()[-2000:]}") from error
            if not more:
                raise RuntimeError(f"the guest ended: {self.console()[-2000:]}")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode(errors="replace").strip("\r")

    def monitor(self, command: str) -> None:
        """A command of QEMU's monitor, such as "set_link n0 off"."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.folder / "monitor.sock"))
            monitor.settimeout(BOOT_S)
            for line in (b"", command.encode() + b"\n"):
                monitor.sendall(line)
                while not (said := monitor.recv(65536)).endswith(b"(qemu) ") and said:
                    pass

    def console(self) -> str:
        path = self.folder / "console.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def run(self, command: str, timeout: float = 120) -> types.SimpleNamespace:
        """Run a shell command in the guest. @return its returncode and output (both streams)"""
        self.begin(command)
        return self.end(timeout)

    def begin(self, command: str) -> None:
        """Begin a command, which end() waits for. One at a time."""
        self.agent.sendall(base64.b64encode(command.encode()) + b"\n")

    def end(self, timeout: float = 120) -> types.SimpleNamespace:
        lines = []
        while not (line := self._line(timeout)).startswith("end "):
            lines.append(line)
        output = base64.b64decode("".join(lines)).decode(errors="replace")
        return types.SimpleNamespace(returncode=int(line[4:]), output=output)
