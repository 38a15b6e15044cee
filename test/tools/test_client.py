#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench.desk beside a program that ends, hangs or lies at any byte."""
import contextlib
import json
import pathlib
import socket
import tempfile
import threading
import unittest

import fake  # noqa: F401  finds the tools
from quench import desk

REPLY = {"jsonrpc": "2.0", "id": 1, "result": {"rows": [{"flow": "a\u00e9"}]}}
PATIENCE_S = 0.3


class Fake:
    """A socket that takes clients and sends each what it is given."""

    def __init__(self, folder, pieces, then="close", prefix="p", file=desk.SOCKET):
        path = pathlib.Path(folder) / "dpdk" / prefix / file
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.pieces, self.then = str(path), pieces, then
        self.asked = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(8)
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
                request = client.recv(1 << 16)
                self.asked.append(request)
                for piece in self.pieces:
                    client.sendall(piece)
                if self.then == "close":
                    client.close()
                self.kept.append(client)
            except OSError:
                if self.socket.fileno() < 0:
                    return

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # accept() would keep it open
        self.socket.close()


class Client(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def fake(self, pieces, then="close", **where):
        found = Fake(self.folder.name, pieces, then, **where)
        self.addCleanup(found.close)
        return found

    def fails(self, fake, words, silent=False, **limits):
        """A call fails with these words, and none follows on its connection."""
        with desk.Desk(fake.path, PATIENCE_S, **limits) as client:
            with self.assertRaises(desk.Gone) as caught:
                client.call("flows")
            self.assertIn(words, str(caught.exception))
            self.assertEqual(caught.exception.silent, silent)
            with self.assertRaises(desk.Gone):
                client.call("flows")
        fake.close()

    def test_reply_in_any_pieces(self):
        line = json.dumps(REPLY, ensure_ascii=False).encode() + b"\n"
        for at in range(len(line)):
            fake = self.fake([line[:at], line[at:]], file=f"{desk.SOCKET}:{at}")
            with desk.Desk(fake.path, 60) as client:
                self.assertEqual(client.call("flows"), REPLY["result"])
            fake.close()

    def test_program_that_ends_or_hangs_at_any_byte(self):
        line = json.dumps(REPLY).encode() + b"\n"
        for at in range(len(line)):
            self.fails(self.fake([line[:at]], file=f"{desk.SOCKET}:{at}"), "the program has ended")
        for at in (0, 1, len(line) - 1):
            self.fails(self.fake([line[:at]], "hang", file=f"{desk.SOCKET}:h{at}"), "does not answer", silent=True)

    def test_program_that_lies(self):
        for n, (text, words) in enumerate(((b"{}", "reply to request 1"), (b"[]", "reply to request 1"), (b"7", "reply to request 1"),
                                           (b"{nonsense", "expected JSON"), (b"\xff\xfe", "expected JSON"),
                                           (b'{"id":2,"result":{}}', "reply to request 1"), (b'{"id":1,"error":7}', "reply to request 1"))):
            self.fails(self.fake([text + b"\n"], "hang", file=f"{desk.SOCKET}:{n}"), words)

    def test_reply_without_end(self):
        fake = self.fake([b"x" * 4096] * 64, "hang")
        self.fails(fake, "at most 100000 bytes", most_bytes=100000)

    def test_drip_is_no_answer(self):
        """The patience is of the call, not of a byte."""
        fake = self.fake([])

        def drip(client):
            while True:
                try:
                    client.sendall(b" ")
                except OSError:
                    return
                threading.Event().wait(0.02)
        fake.serve = None
        client, server = socket.socketpair()
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        d = desk.Desk(fake.path, PATIENCE_S)
        d.socket.close()
        d.socket = client
        with self.assertRaises(desk.Gone) as caught:
            d.call("info")
        self.assertTrue(caught.exception.silent)

    def test_refusals(self):
        cases = (({"code": -32602, "message": "PORT = 7", "data": {"expected": "a number", "usage": "port PORT"}}, desk.Refused, "PORT = 7: expected a number"),
                 ({"code": -32000, "message": "a whole line"}, desk.Refused, "a whole line"),
                 ({"code": -32001, "message": "the program is about to end"}, desk.Gone, "about to end"),
                 ({"code": -32001, "message": "the main lcore did not respond in 2 s", "data": {"expected": "another try"}}, desk.Refused, "expected another try"),
                 ({"code": -32002, "message": "64 clients are connected"}, desk.Gone, "64 clients"))
        for n, (error, kind, words) in enumerate(cases):
            number = None if error["code"] == -32002 else 1
            fake = self.fake([json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode() + b"\n"], file=f"{desk.SOCKET}:{n}")
            with desk.Desk(fake.path, 60) as client, self.assertRaises(kind) as caught:
                client.call("port", port=7, queue=None)
            self.assertIn(words, str(caught.exception))
            self.assertEqual(json.loads(fake.asked[0])["params"], {"port": 7})

    def test_programs_are_found(self):
        one, two, other = (self.fake([], prefix=prefix, file=file) for prefix, file in
                           (("a", desk.SOCKET), ("a", f"{desk.SOCKET}:1"), ("b*", desk.SOCKET)))
        dead = self.fake([], prefix="dead")
        dead.close()
        (pathlib.Path(self.folder.name) / "dpdk/a/dpdk_telemetry.v2").touch()
        with unittest.mock.patch.dict("os.environ", {"RUNTIME_DIRECTORY": self.folder.name}):
            self.assertEqual(desk.sockets(), [one.path, two.path, other.path])
            self.assertEqual([desk.sockets(name) for name in ("a", "a:0", "a:1", "a:2", "b*", "b", "dead", "*")],
                             [[one.path, two.path], [one.path], [two.path], [], [other.path], [], [], []])
            self.assertEqual(desk.sockets("dead", test_one=False), [dead.path])
            with self.assertRaises(desk.Gone) as caught:
                desk.choose("dead")
            self.assertIn("has ended and left its socket behind", str(caught.exception))
            with self.assertRaises(desk.Gone) as caught:
                desk.choose("none")
            self.assertIn("no program with --file-prefix none runs", str(caught.exception))
            with self.assertRaises(desk.Refused) as caught:
                desk.choose("a", 0.1)
            self.assertIn("2 programs run with --file-prefix a: expected one of a:0 (does not answer), a:1", str(caught.exception))
        self.assertEqual([desk.name_of(one.path), desk.name_of(two.path)], ["a", "a:1"])


if __name__ == "__main__":
    import unittest.mock
    unittest.main()
