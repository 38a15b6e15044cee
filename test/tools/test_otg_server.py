#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg's requests, without a program of ours: locations, forms of a request, tokens, sizes, and the folder that it has to itself."""
import base64
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

from fake_otg import Otg
from test_otg_plan import configuration

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
from scripts import Script  # noqa: E402

OTG = Script("otg")


def program(*options):
    return subprocess.run([OTG.path, *options], capture_output=True, text=True, check=False)


TOKEN = "0123456789abcdef~-._"


def raw(name):
    return {**configuration()["flows"][0], "name": name}


class Case(unittest.TestCase):
    def serve(self, *options, texts=None, **more):
        self.otg = Otg(texts or {"a": ("a",), "b": ("b", "chassis-1:5555", "10.36.84.1;1;2")}, *options, **more)
        self.addCleanup(self.otg.end)
        return self.otg

    def test_a_location_has_any_form(self):
        otg, config = self.serve(), configuration()
        for text in ("chassis-1:5555", "10.36.84.1;1;2"):
            config["ports"][1]["location"] = text
            self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": []}))
            self.assertEqual(otg.ask("POST", "/monitor/metrics", {"choice": "port"})[1]["port_metrics"][1]["location"], text)
        config["ports"][0]["location"] = "b"
        self.assertEqual(otg.ask("POST", "/config", config)[1]["errors"], ["ports[1].location: '10.36.84.1;1;2': port 'tx' has it"])
        config["ports"][0]["location"] = "eth1;1"
        self.assertEqual(otg.ask("POST", "/config", config)[1]["errors"], [
            "ports[0].location: 'eth1;1': expected one of a, b, chassis-1:5555, 10.36.84.1;1;2, or a device for it: --port 'eth1;1=DEVICE'"])
        del config["ports"][0]["location"]
        self.assertEqual(otg.ask("POST", "/config", config)[1]["errors"], [
            "ports[0].location: missing, and expected one of a, b, chassis-1:5555, 10.36.84.1;1;2"])

    def test_what_layer1_asks_of_the_device_is_ignored_with_one_warning(self):
        otg, config = self.serve(), configuration()
        config["layer1"] = [{"name": f"l{n}", "port_names": [port], "promiscuous": True, "mtu": 64, "media": "fiber", "ieee_media_defaults": False,
                             "auto_negotiate": False, "auto_negotiation": {"rs_fec": True}} for n, port in enumerate(("tx", "rx"))]
        config["options"]["port_options"] = {"location_preemption": False, "frame_ordering_mode": {"choice": "no_ordering"}}
        self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": [
            "layer1: auto_negotiate, auto_negotiation, media, mtu, promiscuous: ignored: the device and its driver decide"]}))
        config["layer1"] = [{"name": "l", "port_names": ["tx"], "promiscuous": False, "ieee_media_defaults": False}]
        config["options"]["port_options"]["location_preemption"] = True
        self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": [
            "options.port_options.location_preemption: ignored: the ports of a quench-otg are its own"]}))

    def test_append_and_delete_take_the_bare_list_and_the_message(self):
        otg = self.serve()
        otg.ask("POST", "/config", configuration())
        for n, wrap in enumerate((lambda key, found: found, lambda key, found: {key: found})):
            self.assertEqual(otg.ask("PATCH", "/config/append", wrap("config_append_list", [{"choice": "flows", "flows": [raw(f"n{n}")]}])), (200, {"warnings": []}))
            self.assertEqual(otg.ask("GET", "/config")[1]["flows"][-1]["name"], f"n{n}")
            self.assertEqual(otg.ask("PATCH", "/config/delete", wrap("config_delete_list", [{"choice": "flows", "flows": [f"n{n}"]}])), (200, {"warnings": []}))
            self.assertEqual(len(otg.ask("GET", "/config")[1]["flows"]), 2)
        for body in ({"config_delete_list": []}, {"config_append_list": {}}, {"config_append_list": [], "more": 1}, None, "x", 7):
            status, reply = otg.ask("PATCH", "/config/append", body if body is not None else b"null")
            self.assertEqual((status, "expected a list" in reply["errors"][0]), (400, True), reply)

    def test_rates_above_that_of_the_port_give_a_warning(self):
        otg, config = self.serve(), configuration()
        config["flows"][0]["rate"] = {"choice": "percentage", "percentage": 100}
        config["flows"][1]["rate"] = {"choice": "pps", "pps": 1000}
        line = "flows: those of port 'tx' ask for {} bit/s with preambles and gaps: the port has 1000000000"
        self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": [line.format(10**9 + 84 * 8 * 1000)]}))
        more = {**raw("more"), "rate": {"choice": "gbps", "gbps": 2}}
        self.assertEqual(otg.ask("PATCH", "/config/append", [{"choice": "flows", "flows": [more]}])[1],
                         {"warnings": [line.format(10**9 + 84 * 8 * 1000 + 2 * 10**9 * 84 // 64)]})
        config["flows"] = [{**raw("only"), "rate": {"choice": "percentage", "percentage": 100}}]
        self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": []}))
        update = {"choice": "flows", "flows": {"property_names": ["rate"], "flows": [{**config["flows"][0], "rate": {"choice": "gbps", "gbps": 1}}]}}
        self.assertEqual(otg.ask("PATCH", "/config", update)[1], {"warnings": [line.format(10**9 * 84 // 64)]})

    def test_whole_numbers_are_texts_too(self):
        otg, config = self.serve(), configuration()
        config["flows"][0]["rate"] = {"choice": "pps", "pps": "50"}
        config["flows"][0]["packet"][0]["ethernet"]["src"] = {"choice": "increment", "increment": {"start": "02:00:00:00:00:01", "count": "253"}}
        self.assertEqual(otg.ask("POST", "/config", config), (200, {"warnings": []}))

    def test_a_header_that_is_refused_has_one_line(self):
        otg, config = self.serve(), configuration()
        config["flows"][0]["tx_rx"] = {"choice": "no_such", "no_such": {}}
        config["flows"][1]["packet"].append({"choice": "lacp", "lacp": {"x": 1}})
        self.assertEqual([line.split(": ")[0] for line in otg.ask("POST", "/config", config)[1]["errors"]],
                         ["flows[0].tx_rx.choice", "flows[0].tx_rx.no_such", "flows[1].packet[1].choice"])

    def test_an_action_is_not_implemented_and_named(self):
        otg = self.serve()
        for body, name in (({"choice": "protocol", "protocol": {"choice": "ipv4", "ipv4": {"choice": "ping", "ping": {}}}}, "protocol.ipv4.ping"),
                           ({"choice": "protocol", "protocol": {"choice": "bgp"}}, "protocol.bgp"), ({"choice": "port", "port": {"choice": "reboot"}}, "port.reboot"),
                           ({}, ""), ([], "")):
            status, reply = otg.ask("POST", "/control/action", body)
            self.assertEqual((status, reply["code"], len(reply["errors"])), (501, 501, 1))
            self.assertTrue(reply["errors"][0].startswith(f'"{name}": not implemented: '), reply)

    def test_a_token_comes_as_bearer_or_as_a_password(self):
        otg = self.serve(token=TOKEN)

        def basic(text):
            return "Basic " + base64.b64encode(text.encode()).decode()

        for header in (f"Bearer {TOKEN}", f"bearer {TOKEN}", basic(f"otg:{TOKEN}"), basic(f":{TOKEN}")):
            self.assertEqual(otg.ask("GET", "/config", Authorization=header)[0], 200, header)
        for header in ("", TOKEN, f"Bearer {TOKEN} ", f"Bearer x{TOKEN}", basic(TOKEN), basic(f"{TOKEN}:"), basic("otg:"), "Basic !", "Basic", f"Digest {TOKEN}"):
            self.assertEqual(otg.ask("GET", "/config", Authorization=header)[0], 401, header)

    def test_a_request_with_too_many_values_is_refused_before_it_takes_memory(self):
        otg = self.serve()
        for body in (b'{"flows":[' + b"{}," * (21 << 20) + b"{}]}", b"[" * (60 << 20), b'{"a":1' + b',"a":1' * (9 << 20) + b"}"):
            before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            status, reply = otg.ask("POST", "/config", body)
            self.assertEqual((status, len(reply["errors"]), "expected at most" in reply["errors"][0]), (400, 1, True))
            # What is sent, and what is received and as long.
            self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb, 3 * (64 << 10))
        self.assertEqual(otg.ask("POST", "/config", b'{"flows":[' + b"{}," * (1 << 19) + b"{}]}")[1]["errors"][-1], "more mistakes are not listed")


class Folder(unittest.TestCase):
    def setUp(self):
        found = tempfile.TemporaryDirectory()
        self.addCleanup(found.cleanup)
        self.work = pathlib.Path(found.name)

    def command(self, *options):
        return ["--http", "--port", "chassis-1:5555=net_null0", "--program", "/bin/true", "--listen", "127.0.0.1:0", *options]

    def start(self, *options):
        process = subprocess.Popen([OTG.path, *self.command(*options)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertTrue(process.stdout.readline().startswith("listening on http://127.0.0.1:"))
        return process

    def refused(self, *options, run=OTG):
        done = run(*self.command(*options))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        return done.stderr

    def test_a_second_server_is_refused_until_the_first_one_ends(self):
        folder = self.work / "f"
        first = self.start("--folder", folder)
        self.assertEqual(self.refused("--folder", folder),
                         f"otg: --folder {folder}: process {first.pid}, a quench-otg, runs with it: expected a folder of its own for each\n")
        first.kill()
        first.wait()
        self.start("--folder", folder)
        self.assertEqual({oct(path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())}, {"0o700", "0o600"})

    def test_a_folder_that_others_write_is_refused(self):
        folder, link = self.work / "f", self.work / "link"
        folder.mkdir()
        link.symlink_to(folder)
        self.assertEqual(self.refused("--folder", link), f"otg: --folder {link}: a symbolic link: expected a folder\n")
        for mode in (0o770, 0o777):
            folder.chmod(mode)
            self.assertIn(f"user {os.geteuid()} owns it, with mode {mode:o}: expected a folder that only you", self.refused("--folder", folder))
        folder.chmod(0o755)
        (folder / "lock").symlink_to(self.work / "elsewhere")
        self.assertIn("lock: ", self.refused("--folder", folder))
        self.assertFalse((self.work / "elsewhere").exists())
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
            self.assertIn("user 65534 owns it", self.refused("--folder", folder))

    def test_a_token_or_key_that_others_read_is_refused(self):
        token, key = self.work / "token", self.work / "key.pem"
        token.write_text(TOKEN)
        key.write_text("")
        for mode in (0o604, 0o640, 0o622):
            token.chmod(mode)
            self.assertEqual(self.refused("--token-file", token), f"otg: --token-file {token}: expected a file of yours that only you can read (chmod 600)\n")
        token.chmod(0o600)
        self.start("--token-file", token)
        key.chmod(0o644)
        with_key = [option for option in self.command("--cert", key, "--key", key) if option != "--http"]
        done = OTG(*with_key)
        self.assertEqual((done.returncode, done.stderr), (2, f"otg: --key {key}: expected a file of yours that nobody but you and its group can read (chmod 640)\n"))

    def test_two_ports_have_no_location_in_common(self):
        self.assertIn("another port has this location", self.refused("--port", "chassis-1:5555=net_null1", run=program))
        ports = self.work / "ports.ini"
        ports.write_text("[port x]\ndevice = net_null1\nlocation = 10.0.0.1;1;1, chassis-1:5555\n")
        self.assertIn("location chassis-1:5555: port x has it", self.refused("--ports", ports))
        ports.write_text("[port chassis-1_5555]\ndevice = net_null1\nlocation = 10.0.0.1;1;1, 10.0.0.1;1;2\n[port 10.0.0.1;2;1]\ndevice = net_null2\n")
        self.start("--ports", ports)


if __name__ == "__main__":
    unittest.main()
