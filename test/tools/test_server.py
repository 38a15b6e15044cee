#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The HTTP server of quenchctl and quench-otg beside clients that are silent, slow, many or wrong."""
import contextlib
import http.client
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

from fake import PATIENCE_S  # finds the tools
from quench import server

LIMITS = server.Limits(clients=4, patience_s=1.0, answer_s=1.0, body_bytes=100, all_bodies_bytes=250)
LOOPBACK = "127.0.0.1"
BIG = b"x" * (64 << 20)  # more than sockets hold


class Handler(server.Handler):
    def answer(self):
        self.check_host()
        if self.command == "POST":
            self.check_page()
            self.check_length()
            self.check_token(self.headers.get("token", ""), "secret", "no token\n")
        body = self.body()
        if self.begin_answer():
            if self.path == "/wait":
                self.server.go_on.wait(PATIENCE_S)
            self.reply(200, server.TEXT, BIG if self.path == "/big" else body or b"hello")


class Case(unittest.TestCase):
    scheme, context = "http", None

    def setUp(self):
        self.server = server.Server(("127.0.0.1", 0), Handler, LIMITS, self.context)
        self.server.go_on = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.host = self.server.url.removeprefix(f"{self.scheme}://")
        self.sockets = []

    def tearDown(self):
        self.server.go_on.set()
        for s in self.sockets:
            s.close()
        self.server.shutdown()
        self.server.server_close()

    def connect(self, data=b""):
        host, port = self.host.split(":")
        self.sockets.append(self.secure(socket.create_connection((host, int(port)), timeout=PATIENCE_S)))
        self.sockets[-1].sendall(data)
        return self.sockets[-1]

    def secure(self, connection):
        return connection

    def client(self):
        return http.client.HTTPConnection(self.host, timeout=PATIENCE_S)

    def ask(self, method="GET", path="/", body=None, announced=None, **headers):
        connection = self.client()
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(announced or len(body)))
        connection.endheaders()
        try:
            connection.send(body or b"")
        except ConnectionError:
            pass  # refused before its body
        reply = connection.getresponse()
        with contextlib.closing(connection):
            return reply.status, reply.read()

    def post(self, body=b"{}", announced=None, **headers):
        return self.ask("POST", "/", body, announced, **{"Origin": f"{self.scheme}://{self.host}", "Content_Type": "application/json", "token": "secret", **headers})

    def head(self, path):
        """Of a body of 100 bytes."""
        lines = (f"POST {path} HTTP/1.1", f"Host: {self.host}", f"Origin: {self.scheme}://{self.host}", "Content-Type: application/json", "token: secret", "Content-Length: 100")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def eventually_served(self):
        """A connection of ours may be that which makes room."""
        for _ in range(1000):
            try:
                if self.ask() == (200, b"hello"):
                    return
            except (ConnectionError, ssl.SSLError):
                pass
        self.fail("nobody is served")

    def ends(self, s):
        try:
            while s.recv(1 << 20):
                pass
        except (ConnectionError, ssl.SSLError):
            pass

    def test_who_says_nothing_or_half_a_request_is_cut_off(self):
        for data in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "):
            self.ends(self.connect(data))
        self.assertGreaterEqual(self.server.counts.closed_slow, 3)

    def test_who_was_served_and_says_no_more_is_cut_off(self):
        """Its next request would have no answer: a client that keeps connections must see that this one has ended."""
        s = self.connect(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(s.recv(1))
        self.ends(s)

    def test_who_does_not_read_is_cut_off_and_others_are_served(self):
        s = self.connect(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.ask(), (200, b"hello"))
        while self.server.counts.closed_slow == 0:
            threading.Event().wait(0.05)
        self.ends(s)

    def test_who_asks_is_served_beside_any_number_of_silent_ones(self):
        for _ in range(20):
            self.connect(b"GET / HTTP/1.1\r\n")
        self.eventually_served()

    def test_bodies_that_are_not_complete_make_room_for_another(self):
        self.server.limits = LIMITS._replace(patience_s=PATIENCE_S)
        large, _ = (self.connect(self.head("/") + b"x" * size) for size in (99, 98))
        while sum(place.held_bytes for place in list(self.server.places.values())) < 99 + 98:
            threading.Event().wait(0.01)
        self.assertEqual(self.post(b"x" * 100), (200, b"x" * 100))
        self.ends(large)
        # The body that was answered goes after its answer.
        while (held := [place.held_bytes for place in list(self.server.places.values()) if place.held_bytes and not place.ended]) == [98, 100]:
            threading.Event().wait(0.01)
        self.assertEqual(held, [98])

    def test_a_body_beside_those_of_busy_ones_is_told(self):
        for _ in range(2):
            self.connect(self.head("/wait") + b"x" * 100)
        while sum(place.busy for place in list(self.server.places.values())) < 2:
            threading.Event().wait(0.01)
        self.assertEqual(self.post(b"x" * 100), (503, b"bodies of more than 250 bytes at a time: expected fewer\n"))
        self.assertEqual(self.post(b"x" * 50), (200, b"x" * 50))

    def test_one_more_than_can_be_busy_is_told(self):
        for _ in range(LIMITS.clients):
            self.connect(b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while sum(place.busy for place in list(self.server.places.values())) < LIMITS.clients:
            threading.Event().wait(0.01)
        self.assertEqual(self.ask(), (503, b"more than 4 clients at a time: expected fewer\n"))
        self.assertEqual(self.server.counts.refused_clients, 1)

    def test_what_is_wrong_in_the_headers_is_refused_before_the_body(self):
        for expected, headers in ((403, {"Host": "evil.example"}), (403, {"Origin": "http://evil.example"}), (403, {"Origin": "null"}),
                                  (403, {"Sec_Fetch_Site": "cross-site"}), (403, {"Host": "127.0.0.1.evil.example"}),
                                  (415, {"Content_Type": "text/plain;application/json"}), (401, {"token": "wrong"}), (401, {"token": "\xe9"})):
            self.assertEqual(self.post(announced=90, **headers)[0], expected, headers)
        self.assertEqual(self.post(b"x" * 101)[0], 413)
        self.assertEqual(self.ask("POST", Origin=f"{self.scheme}://{self.host}", Content_Type="application/json", Transfer_Encoding="chunked")[0], 411)
        self.assertEqual(self.post(), (200, b"{}"))

    def test_a_request_has_an_end(self):
        self.assertEqual(self.ask(path="/" + "a" * 9000)[0], 414)
        self.assertEqual(self.ask(X="a" * 17000)[0], 431)

    def test_an_address_that_is_none_is_refused(self):
        for text, expected in (("9880", (LOOPBACK, 9880)), ("[::1]:1", ("::1", 1)), ("0.0.0.0:0", ("0.0.0.0", 0))):
            self.assertEqual(server.split_address(text), expected)
        for text in ("", ":1", "nowhere:1", f"{LOOPBACK}:{1 << 16}", f"{LOOPBACK}:-1", "9880x", "127.0.0.1", "[::1:1"):
            self.assertRaises(ValueError, server.split_address, text)


class Secure(Case):
    """The same over TLS, whose connection is another object than the one that was accepted."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        key, cert = (pathlib.Path(folder.name) / name for name in ("key.pem", "cert.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost"],
                       check=True, capture_output=True)
        cls.scheme, cls.context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(cert, key)
        cls.trusting = ssl.create_default_context(cafile=cert)
        cls.trusting.check_hostname = False

    def secure(self, connection):
        return self.trusting.wrap_socket(connection)

    def client(self):
        return http.client.HTTPSConnection(self.host, timeout=PATIENCE_S, context=self.trusting)


if __name__ == "__main__":
    unittest.main()
