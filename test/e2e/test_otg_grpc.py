#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg --grpc and a client whose messages Google's protocol buffers make, of the published numbers of the schema: replies and mistakes are
those of HTTP, and bytes that are no message get a line.
"""
import json
import random
import sys

from configs import memif
from harness import PATIENCE_S, check, check_equal, finish, skip, work_dir
from otg_bed import Otg, device, flow, pfc, raw_flow, settings, tx_port, value

try:
    import grpc
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError:
    skip("python3-grpcio is not installed")
from otg import protobuf, rpc, schema  # noqa: E402

SEED, MUTATIONS = 35, 3000
TYPES = {"int32": 5, "uint32": 13, "int64": 3, "uint64": 4, "": 5, "float": 2, "double": 1}
TOKEN = "0123456789abcdef"
ETHERNET = ("ethernet", {"dst": value("02:00:00:00:00:02"), "src": value("02:00:00:00:00:01")})


def add_field(message, key, found):
    """Of the second version, which knows what is absent. The encoding is that of the third."""
    item = found.get("items", found)
    field = message.field.add(name=key, number=found["x-field-uid"], label=3 if "items" in found else 1)
    if "$ref" in item:
        field.type, field.type_name = 11, ".t." + item["$ref"].rpartition("/")[2].replace(".", "_")
    elif "x-enum" in item:
        enum = message.nested_type.add(name=f"{key}_names").enum_type.add(name="Enum")
        for name, number in sorted(item["x-enum"].items(), key=lambda pair: pair[1]["x-field-uid"]):
            enum.value.add(name=name, number=number["x-field-uid"])
        field.type, field.type_name = 14, f".t.{message.name}.{key}_names.Enum"
    elif item.get("type") in ("integer", "number"):
        field.type = TYPES[item.get("format", "" if item["type"] == "integer" else "float")]
        field.options.packed = "items" in found
    else:  # what is refused has no type: its encoding does not matter
        field.type = {"boolean": 8, "string": 9}.get(item.get("type"), 13)


def messages():
    """Classes by the names of the schema."""
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto2")
    for name, found in schema.SCHEMAS.items():
        message = file.message_type.add(name=name.replace(".", "_"))
        for key, prop in found.get("properties", {}).items():
            add_field(message, key, prop)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(pool.FindMessageTypeByName("t." + name.replace(".", "_"))) for name in schema.SCHEMAS}


MESSAGES = messages()


def wrapped(data):
    return protobuf.field(1, protobuf.BYTES, data)


def packed(kind, body):
    return json_format.ParseDict(body, MESSAGES[kind]()).SerializeToString()


def unpacked(kind, data):
    return json_format.MessageToDict(MESSAGES[kind].FromString(data), preserving_proto_field_name=True)


def as_texts(value):
    """Numbers of 64 bits are texts in JSON of protocol buffers."""
    if isinstance(value, dict):
        return {key: as_texts(item) for key, item in value.items()}
    return [as_texts(item) for item in value] if isinstance(value, list) else str(value)


class Client:
    def __init__(self, address, token=TOKEN):
        self.channel = grpc.insecure_channel(address)
        self.metadata = (("authorization", f"Bearer {token}"),)

    def raw(self, method, data):
        """@return bytes of the reply's only field"""
        reply = self.channel.unary_unary(rpc.SERVICE + method)(data, timeout=PATIENCE_S, metadata=self.metadata, wait_for_ready=True)
        begin, end = next(rpc.inner(protobuf.Decoder(reply, 1), 0, len(reply)))
        return reply[begin:end]

    def call(self, method, body=None):
        found = rpc.METHODS[method]
        data = b"".join(wrapped(packed(found.request, one)) for one in body) if found.is_list else packed(found.request, body) if found.request else b""
        reply = self.raw(method, wrapped(data) if found.request else b"")
        return unpacked(found.reply, reply) if found.reply else reply

    def stream(self, method, body=None):
        found = rpc.METHODS[method]
        pieces = self.channel.unary_stream(f"{rpc.SERVICE}stream{method}")(wrapped(packed(found.request, body)) if found.request else b"", timeout=PATIENCE_S,
                                                                           metadata=self.metadata)
        data = b""
        for piece in pieces:
            at = protobuf.Decoder(piece, 0).extent(protobuf.VARINT, 1, len(piece))[1]
            data += piece[protobuf.Decoder(piece, 0).extent(protobuf.BYTES, at + 1, len(piece))[0]:]
        return data

    def refused(self, method, data):
        """@return name of the status, and the Error"""
        try:
            self.raw(method, data)
        except grpc.RpcError as error:
            return error.code().name, json.loads(error.details())
        return "OK", {}


def configuration():
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{**pfc(["tx", "rx"]), "speed": "speed_1_gbps"}],
        # A client of gRPC takes 4 MiB if it does not say otherwise: short frames, and few of them a second.
        "captures": [{"name": "c", "port_names": ["rx"], "format": "pcap", "packet_size": 60}],
        "devices": [device(1, "tx", {2: [("t", 100, {"dscp": 26})]}), device(2, "rx", {1: [("r", 300, {"dscp": 26})]})],
        "flows": [raw_flow("raw", "tx", ETHERNET, ("ipv4", {"dst": {"choice": "values", "values": ["10.0.0.2", "10.0.0.3"]}}), ("udp", {
            "src_port": {"choice": "values", "values": [1, 300, 65535]}}), rx="rx", duration={"choice": "fixed_packets", "fixed_packets": {"packets": 300}})],
        "options": {"per_port_options": [settings("tx"), settings("rx")]},
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port("tx", [flow("f", "t", "r")], 4)]}]},
    }


def check_same(client, otg):
    """Both servers have one run."""
    config = configuration()
    check_equal("set_config", client.call("SetConfig", config), {})
    check_equal("HTTP has it", otg.good("GET", "/config"), config)
    check_equal("gRPC has it", as_texts(client.call("GetConfig")), as_texts(config))
    check_equal("and in pieces", as_texts(unpacked("Config", client.stream("GetConfig"))), as_texts(config))
    for port_state in ({"choice": "port", "port": {"choice": "capture", "capture": {"state": "start"}}},
                       {"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {"state": "start"}}}):
        check_equal("set_control_state", client.call("SetControlState", port_state), {})
    otg.wait("messages and frames", lambda: otg.flow("f")["message_complete_rx"] > 20 and otg.raw("raw")["transmit"] == "stopped")
    client.call("SetControlState", {"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {"state": "stop"}}})
    otg.wait_quiet()
    for choice, body, key in (("rocev2_flow", {"choice": "per_qp", "per_qp": {}}, "flow_name"), ("flow", {}, "name"), ("port", {}, "name")):
        ours = client.call("GetMetrics", {"choice": choice, choice: body})
        theirs = otg.good("POST", "/monitor/metrics", {"choice": choice, choice: body})
        check_equal(f"metrics of {choice}: choice", ours["choice"], theirs["choice"])
        # Texts and floats of 32 bits, of JSON's numbers. Rates differ from reading to reading.
        counts = [[{name: str(number) for name, number in row.items() if isinstance(number, (int, str)) and "rate" not in name and name != "speed" and
                    not isinstance(number, bool) and number != 0.0} for row in reply[reply["choice"]]] for reply in (ours, theirs)]
        check_equal(f"metrics of {choice}", [{name: row.get(name) for name in other} for row, other in zip(*counts)], counts[1])
        check("with names", all(row[key] for row in ours[ours["choice"]]), ours)
    check_equal("states", client.call("GetStates", {"choice": "ipv4_neighbors", "ipv4_neighbors": {}}),
                otg.good("POST", "/monitor/states", {"choice": "ipv4_neighbors", "ipv4_neighbors": {}}))
    file = otg.get_capture("rx")
    check("the capture has frames", len(file) > 300 * 60, len(file))
    check_equal("captures", (client.call("GetCapture", {"port_name": "rx"}), client.stream("GetCapture", {"port_name": "rx"})), (file, file))
    check_equal("get_version", client.call("GetVersion"), {key: text for key, text in otg.good("GET", "/capabilities/version").items()})
    added = raw_flow("more", "tx", ETHERNET, rx="rx")
    check_equal("append_config", client.call("AppendConfig", [{"choice": "flows", "flows": [added]}]), {})
    check_equal("it is there", [one["name"] for one in client.call("GetConfig")["flows"]], ["raw", "more"])
    check_equal("update_config", client.call("UpdateConfig", {"choice": "flows", "flows": {"property_names": ["rate"], "flows": [
        {**added, "rate": {"choice": "pps", "pps": "17"}}]}}), {})
    check_equal("delete_config", client.call("DeleteConfig", [{"choice": "flows", "flows": ["raw"]}]), {})
    check_equal("the other one is left, with its new rate", [(one["name"], one["rate"]["pps"]) for one in otg.good("GET", "/config")["flows"]], [("more", 17)])


def check_refused(client, otg):
    bad = configuration()
    bad["ports"][0]["location"] = "nowhere"
    bad["layer1"][0]["flow_control"]["ieee_802_1qbb"]["pfc_delay"] = 3
    bad["devices"][0]["ethernets"][0]["mac"] = "x"
    status, theirs = otg.ask("POST", "/config", bad)
    code, ours = client.refused("SetConfig", wrapped(packed("Config", bad)))
    check_equal("the lines of HTTP", (code, ours), ("INVALID_ARGUMENT", {**theirs, "code": 3}))
    check("those of all stages", status == 400 and len(ours["errors"]) >= 3, (status, ours))
    refused = protobuf.field(schema.KINDS["Config"].properties["lags"].number, protobuf.BYTES, b"\x0a\x03lag")
    code, error = client.refused("SetConfig", wrapped(packed("Config", configuration()) + refused))
    check_equal("a refused property has its line", (code, error["errors"]), ("INVALID_ARGUMENT", [f"lags: refused: {schema.KINDS['Config'].properties['lags'].row.text}"]))
    code, error = client.refused("SetConfig", wrapped(packed("Config", configuration()) + protobuf.field(4000, protobuf.VARINT, b"\x01")))
    check_equal("so has a number that the schema lacks", (code, error["errors"]), ("INVALID_ARGUMENT", ['"field 4000": Config has no such property']))
    code, error = client.refused("SetConfig", wrapped(b"\x0a\x7f"))
    check_equal("bytes that are no message", (code, error["errors"]), (
        "INVALID_ARGUMENT", ["expected a message of the API: byte 4: 127 bytes: expected at most 0, which are left"]))
    code, error = client.refused("SetConfig", wrapped(packed("Config", {"flows": [raw_flow(f"f{n}", "none", ETHERNET) for n in range(200)]})))
    check("a hundred mistakes have room in a status", code == "INVALID_ARGUMENT" and len(error["errors"]) > 20 and error["errors"][-1] == "more mistakes are not listed", error)
    code, error = client.refused("SetControlAction", b"")
    check_equal("actions", (code, error["code"]), ("UNIMPLEMENTED", 12))
    check_equal("the run goes on", [port["name"] for port in client.call("GetConfig")["ports"]], ["tx", "rx"])


def check_mutated():
    """Of any bytes, the decoder makes an object or a line, and what it makes gets a verdict."""
    chance, whole, seen = random.Random(SEED), packed("Config", configuration()), set()
    for _ in range(MUTATIONS):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[at] = chance.randrange(256)
            else:
                del data[at:at + chance.randint(1, 9)]
        try:
            schema.check("Config", protobuf.Decoder(bytes(data), 1 << 20).message("Config", 0, len(data)))
            seen.add("right")
        except (protobuf.Malformed, schema.Refused) as error:
            seen.add(type(error).__name__)
    check_equal("verdicts", seen, {"right", "Malformed", "Refused"})
    try:
        protobuf.Decoder(whole, 20).message("Config", 0, len(whole))
        check("more values than allowed", False, "")
    except protobuf.Malformed as error:
        check_equal("more values than allowed", str(error), "too many values")


def main():
    check_mutated()
    work = work_dir()
    (work / "token").write_text(TOKEN)
    (work / "token").chmod(0o600)
    otg = Otg(work, {"a": memif("client", 0, work), "b": memif("server", 0, work)}, "--http", "--grpc", "127.0.0.1:0", "--token-file", str(work / "token"))
    otg.exchange = lambda method, path, data, headers, exchange=otg.exchange: exchange(method, path, data, {**headers, "Authorization": f"Bearer {TOKEN}"})
    line = otg.process.stdout.readline().split()
    if line[:2] != ["listening", "on"]:
        sys.exit(f"quench-otg says {line}: {(work / 'otg.err').read_text()}")
    client = Client(line[2])
    code, error = Client(line[2], "0123456789abcdeX").refused("GetVersion", b"")
    check_equal("another token", (code, error["code"]), ("UNAUTHENTICATED", 16))
    check_same(client, otg)
    check_refused(client, otg)
    check_equal("quench-otg ends well", otg.stop(), 0)
    finish()


main()
