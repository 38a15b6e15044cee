# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of a testbed for tests/snappi_tests of sonic-mgmt: a quench-switch with four ports in place of the SONiC switch, and quench-otg.

It takes the place of tests/conftest.py, which asks ansible. `run` starts the programs, and sets the variables used here.
"""
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import pathlib
import subprocess
import sys
import time
import types
import unittest.mock

import pytest

PORTS = ["Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"]
TESTER, NAME, MAC = "snappi-tester", "dut", "02:5a:00:00:00:fe"
SPEED_MBPS = 1000
SUITE = pathlib.Path(__file__).resolve().parent


def stub(name, **found):
    module = types.ModuleType(name)
    module.__dict__.update(found)
    sys.modules[name] = module
    return module


class Nothing(types.ModuleType):
    pass


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages that the suite imports, and whose functions none of these tests calls."""

    # Parts of the suite that need packages of other testbeds.
    LEFT_OUT = ("tests.common.macsec", "tests.common.dualtor", "tests.common.plugins.sanity_check")

    def __init__(self, first):
        self.first = first

    def find_spec(self, name, path=None, target=None):
        if self.first:
            return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith(self.LEFT_OUT) else None
        frame = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        ours = frame is not None and str(SUITE) in frame.f_code.co_filename or isinstance(sys.modules.get(name.rpartition(".")[0], None), Nothing)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if ours else None

    def create_module(self, spec):
        def attribute(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return sorted if name == "natsorted" else Exception if name.endswith(("Exception", "Error", "Failure")) else unittest.mock.MagicMock()

        module = Nothing(spec.name)
        module.__getattr__ = attribute
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


@pytest.fixture(scope="session")
def conn_graph_facts():
    return {"device_conn": {NAME: {name: {"peerdevice": TESTER, "peerport": f"Card1/Port{n + 1}", "speed": str(SPEED_MBPS)} for n, name in enumerate(PORTS)}}}


@pytest.fixture(scope="session")
def fanout_graph_facts():
    return {TESTER: {"device_linked_ports": {f"Card1/Port{n + 1}": {"peerdevice": NAME, "peerport": name, "speed": str(SPEED_MBPS)} for n, name in enumerate(PORTS)},
                     "device_info": {"HwSku": "SNAPPI-tester", "mgmtip": "127.0.0.1", "ManagementIp": "127.0.0.1/8", "Type": "DevSnappiChassis"}}}


@pytest.fixture(scope="session")
def fanout_graph_facts_multidut(fanout_graph_facts):
    return fanout_graph_facts


stub("tests.common.fixtures.conn_graph_facts", conn_graph_facts=conn_graph_facts, fanout_graph_facts=fanout_graph_facts,
     fanout_graph_facts_multidut=fanout_graph_facts_multidut, get_graph_facts=None)


class Rows(list):
    @property
    def RawData(self):
        return [list(row.values()) for row in self]


class StatViewAssistant:
    """Of IxNetwork's views, those that tests read beside the API: from flow metrics of the API."""

    def __init__(self, ixnetwork, view):
        self.Rows, self.ColumnHeaders = Rows(), []
        if view != "Traffic Item Statistics":
            return  # Port Statistics: a memif has no CRC
        api = ixnetwork.api
        request = api.metrics_request()
        request.flow.flow_names = []
        for row in api.get_metrics(request).flow_metrics:
            self.Rows.append({"Traffic Item": row.name, "Tx Frames": row.frames_tx, "Rx Frames": row.frames_rx or 0, "Tx Frame Rate": row.frames_tx_rate or 0,
                              "Rx Frame Rate": row.frames_rx_rate or 0, "Tx Rate (Mbps)": row.tx_rate_mbps or 0, "Rx Rate (Mbps)": row.rx_rate_mbps or 0,
                              "Rx L1 Rate (bps)": row.rx_l1_rate_bps or 0, "Loss %": row.loss or 0})


class IxNetwork:
    """Of IxNetwork's tree, what tests of RoCEv2 read: the name and DSCP of each QP, from the configuration in force."""

    def __init__(self, api):
        self.api = api
        self.Traffic = self.RoceV2Traffic = self

    def SaveConfig(self, **_):
        pass

    def find(self):
        return self

    @property
    def RoceV2Stream(self):
        qps = [qp for device in self.api.get_config().devices for interface in device.rocev2.ipv4_interfaces for peer in interface.peers for qp in peer.qps]
        streams = [types.SimpleNamespace(Name=qp.qp_name, IpDscp=qp.connection_type.reliable_connection.dscp) for qp in qps]
        return types.SimpleNamespace(find=lambda: streams)


stub("ixnetwork_restpy", __path__=[], SessionAssistant=None, Files=None)
stub("ixnetwork_restpy.assistants", __path__=[])
stub("ixnetwork_restpy.assistants.statistics", __path__=[])
stub("ixnetwork_restpy.assistants.statistics.statviewassistant", StatViewAssistant=StatViewAssistant)
sys.meta_path.insert(0, Absent(first=True))
sys.meta_path.append(Absent(first=False))
for logs in ("", ".loganalyzer", ".utils", ".system_msg_handler"):
    stub(f"tests.common.plugins.loganalyzer{logs}", __path__=[], support_ignore_loganalyzer=lambda function: function, LogAnalyzer=unittest.mock.MagicMock(),
         DisableLogrotateCronContext=unittest.mock.MagicMock(), ignore_loganalyzer=lambda function: function)


class Dut:
    """What tests ask of an ansible host."""

    hostname = NAME
    is_multi_asic = False
    num_asics = staticmethod(lambda: 1)
    facts = {"asic_type": "vs", "platform_asic": "vs", "hwsku": "quench", "num_asic": 1, "platform": "quench", "is_multi_asic": False, "modular_chassis": False,
             "switch_type": "switch"}
    sonichost = types.SimpleNamespace(is_multi_asic=False, facts=facts)
    os_version = "quench"
    topo_type = "tgen"

    def is_supervisor_node(self):
        return False

    def shell(self, command, module_ignore_errors=False, **_):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env={**os.environ, "PATH": f"{os.environ['QUENCH_DUT_BIN']}:{os.environ['PATH']}"},
                              check=False)
        if done.returncode not in (0, 1) and not module_ignore_errors or "no such command" in done.stderr:
            pytest.fail(f"{command}: {done.returncode}: {done.stderr}")
        return {"cmd": command, "stdout": done.stdout.rstrip("\n"), "stderr": done.stderr, "rc": done.returncode, "stdout_lines": done.stdout.splitlines(),
                "failed": done.returncode != 0}

    command = shell

    def copy(self, content="", dest="", **_):
        pathlib.Path(dest).write_text(content)

    def config_facts(self, **_):
        """Keys of several parts, such as Ethernet0|3, are objects in objects."""
        found = {}
        for table, rows in json.loads(self.shell("sonic-cfggen -d --print-data")["stdout"]).items():
            for key, row in rows.items():
                *outer, last = key.split("|")
                inner = found.setdefault(table, {})
                for part in outer:
                    inner = inner.setdefault(part, {})
                inner.setdefault(last, {}).update(row)
        return {"ansible_facts": found}

    def get_running_config_facts(self):
        return self.config_facts()["ansible_facts"]

    def minigraph_facts(self, **_):
        return {"ansible_facts": {"minigraph_vlans": {"Vlan1000": {"name": "Vlan1000", "members": PORTS}},
                                  "minigraph_vlan_interfaces": [{"attachto": "Vlan1000", "addr": "192.168.1.1", "prefixlen": 24, "subnet": "192.168.1.0/24"}],
                                  "minigraph_interfaces": [], "minigraph_portchannels": {}, "minigraph_portchannel_interfaces": [], "minigraph_ports": {}}}

    def get_extended_minigraph_facts(self, *_, **__):
        return self.minigraph_facts()["ansible_facts"]

    def get_dut_iface_mac(self, _):
        return MAC

    def get_port_asic_instance(self, _):
        return types.SimpleNamespace(namespace=None, asic_index=0, get_asic_namespace=lambda: "", sonic_db_cli="sonic-db-cli")

    def asic_instance(self, _=None):
        return self

    def get_namespace_from_asic_id(self, _):
        return None

    def critical_services_fully_started(self):
        return True

    def get_facts(self):
        return self.facts


def parse_override(testbed, field):
    """No file names the ports of tests."""
    return False, None


def generate_priority_lists(_, kind, **__):
    """kind: all, lossless, lossy"""
    return [f"{NAME}|{prio}" for prio in PRIORITIES[kind]]


def add_custom_msg(*_):
    pass


class Duts(list):
    def __getitem__(self, key):
        return super().__getitem__(0 if isinstance(key, str) else key)

    @property
    def frontend_nodes(self):
        return list(self)


DUT = Dut()


@pytest.fixture(scope="session")
def duthosts():
    return Duts([DUT])


@pytest.fixture(scope="session")
def duthost():
    return DUT


@pytest.fixture(scope="session")
def tbinfo():
    address = os.environ["QUENCH_OTG"].split(":")
    return {"ptf_ip": address[0], "ptf_image_name": "docker-stc-api-server", "topo": {"name": "tgen", "type": "tgen"}, "conf-name": "quench", "duts": [NAME],
            "duts_map": {NAME: 0}}


@pytest.fixture(scope="session")
def rand_one_dut_hostname():
    return NAME


rand_one_dut_front_end_hostname = pytest.fixture(scope="session", name="rand_one_dut_front_end_hostname")(lambda: NAME)
enum_rand_one_per_hwsku_frontend_hostname = pytest.fixture(scope="session", name="enum_rand_one_per_hwsku_frontend_hostname")(lambda: NAME)
rand_one_dut_portname_oper_up = pytest.fixture(scope="session", name="rand_one_dut_portname_oper_up")(lambda: f"{NAME}|{PORTS[0]}")
rand_one_dut_lossless_prio = pytest.fixture(scope="session", name="rand_one_dut_lossless_prio")(lambda: f"{NAME}|3")
rand_lossless_prio = pytest.fixture(scope="session", name="rand_lossless_prio")(lambda: f"{NAME}|3")
duts_minigraph_facts = pytest.fixture(scope="session", name="duts_minigraph_facts")(lambda: {})
localhost = pytest.fixture(scope="session", name="localhost")(lambda: None)
ptfhost = pytest.fixture(scope="session", name="ptfhost")(lambda: None)
creds = pytest.fixture(scope="session", name="creds")(lambda: {})
loganalyzer = pytest.fixture(name="loganalyzer")(lambda: None)
get_function_completeness_level = pytest.fixture(scope="session", name="get_function_completeness_level")(lambda: "basic")
PRIORITIES = {"lossless": (3,), "lossy": (1,), "all": (3, 1)}


@pytest.fixture(autouse=True)
def limits(request):
    """Tests that oversubscribe a link need limits that 512 KB in flight reach, and queues whose content at the end hardly counts."""
    pool, dynamic_th = ("1MB", -4) if request.node.name.startswith(("test_m2o", "test_rocev2")) else ("4MB", 0)
    subprocess.run([os.environ["QUENCH_CTL"], "-f", os.environ["QUENCH_DUT"], "set", f"switch.egress_lossy_pool_bytes={pool}",
                    f"buffer_profile lossless.dynamic_th={dynamic_th}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Links of a test as the suite writes them: egress ports, their Gb/s, ingress ports, their Gb/s.
PORT_MAPS = {"port_map": [1, SPEED_MBPS // 1000, 1, SPEED_MBPS // 1000], "over_subs_port_map": [1, SPEED_MBPS // 1000, 2, SPEED_MBPS // 1000]}


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    for name in metafunc.fixturenames:
        if name.startswith("enum_") and "_prio" in name and "pfc_pause_delay" not in name:
            kind = next(kind for kind in PRIORITIES if kind in name)
            metafunc.parametrize(name, [f"{NAME}|{prio}" for prio in PRIORITIES[kind]])
        elif name == "enum_pfc_pause_delay_test_params":
            metafunc.parametrize(name, [f"{NAME}|3|3"])
    if "tgen_port_info" in metafunc.fixturenames:
        metafunc.parametrize("tgen_port_info", [f"{SPEED_MBPS // 1000}-single_linecard_single_asic"], indirect=True)
    for key, port_map in PORT_MAPS.items():
        listed = getattr(metafunc.module, key, None)
        if isinstance(listed, list) and all(speed == ingress_speed for _, speed, _, ingress_speed in listed):
            listed[:] = [port_map]
    for name, key in (("verify_port_speed", "port_map"), ("verify_port_speed_oversubscribe", "over_subs_port_map")):
        for fixture in metafunc._arg2fixturedefs.get(name, ()):
            fixture.params = [PORT_MAPS[key]]


def pytest_addoption(parser):
    for option in ("--testbed", "--testbed_file", "--completeness_level", "--ansible-inventory"):
        parser.addoption(option, default="quench")
    for option in ("--snappi_macsec", "--skip_sanity", "--enable-snappi-dynamic-ports"):
        parser.addoption(option, action="store_true")


SHORT = {"DATA_FLOW_DURATION_SEC": 20, "stats_interval": 5, "SNAPPI_POLL_DELAY_SEC": 2, "data_flow_pkt_size": 4096}


def shortened(run_test):
    """Of tests that last 300 s and read counters each minute."""
    def run(*positional, test_def, **named):
        return run_test(*positional, test_def={**test_def, **SHORT}, **named)
    return run


def often(pause_flow_rate):
    """A pause lasts 33 ms at 1 Gb/s. The suite sends the next one after half of that; here, after a tenth, so that a sender may be 30 ms late."""
    return lambda port_speed: pause_flow_rate(port_speed, 10)


def with_samples(validate):
    """A pause at 1 Gb/s lasts as long as 100 pauses at 100 Gb/s, for which the suite wants 12000 frames in a capture of some 20 s."""
    return lambda file: validate(file, SAMPLE_SIZE=1500)


def pytest_collection_finish(session):
    """At 1 Gb/s, and on a machine with few CPUs: frames, rates and durations with which the programs keep up."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("tests.snappi_tests.pfc.files.") and (validate := getattr(module, "validate_pfc_frame", None)):
            module.validate_pfc_frame = with_samples(validate)
    if "QUENCH_SLOW" not in os.environ:
        return
    from tests.common.snappi_tests import common_helpers
    pauses = often(common_helpers.calc_pfc_pause_flow_rate)
    for name, module in list(sys.modules.items()):
        if name.startswith("tests.") and hasattr(module, "calc_pfc_pause_flow_rate"):
            module.calc_pfc_pause_flow_rate = pauses
        if name.startswith("tests.snappi_tests."):
            rates = (("TEST_FLOW_AGGR_RATE_PERCENT", 20), ("BG_FLOW_AGGR_RATE_PERCENT", 20)) if name == "tests.snappi_tests.pfc.files.helper" else ()
            for key, value in (("data_flow_pkt_size", 4096), ("DATA_PKT_SIZE", 4096), *rates):
                if key in vars(module):
                    setattr(module, key, value)
    for module in {item.module for item in session.items}:
        if (run_test := getattr(module, "run_pfc_test", None)) and "test_def" in inspect.signature(run_test).parameters:
            module.run_pfc_test = shortened(run_test)


def as_numbers(value, key=""):
    """Counters of 64 bits, which JSON of protocol buffers has as texts, and JSON of HTTP as numbers."""
    if isinstance(value, dict):
        return {name: as_numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [as_numbers(item, key) for item in value]
    return int(value) if isinstance(value, str) and value.isdigit() and key.startswith(("frames_", "bytes_")) or key.endswith("_ns") else value


def pytest_configure(config):
    for marker in ("topology", "disable_loganalyzer", "stress_test", "device_type", "asic", "skip_check_dut_health"):
        config.addinivalue_line("markers", marker)
    from google.protobuf import json_format
    original = json_format.MessageToDict

    def to_dict(message, **options):
        """Debian's protobuf has an older name of an option that snappi uses."""
        if "always_print_fields_with_no_presence" in options:
            options["including_default_value_fields"] = options.pop("always_print_fields_with_no_presence")
        return as_numbers(original(message, **options))

    json_format.MessageToDict = to_dict
    import snappi
    snappi.snappi.GrpcApi._ixnetwork = property(IxNetwork)
    from tests.snappi_tests import variables
    ports = {side: [{"port_name": name, "hostname": NAME} for name in names] for side, names in (("tx_ports", PORTS[:2]), ("rx_ports", PORTS[2:]))}
    variables.MULTIDUT_TESTBED = "quench"
    variables.MULTIDUT_PORT_INFO = {"quench": [{"single-dut-single-asic": ports}]}
    variables.MIXED_SPEED_PORT_INFO = {"quench": []}
    from tests.common.snappi_tests import snappi_fixtures as fixtures
    from tests.common.snappi_tests import traffic_generation
    traffic_generation.wait = lambda *_: time.sleep(3)  # lasts: as the suite waits, but for 30 s

    @pytest.fixture(scope="module")
    def snappi_api_serv_port():
        return int(os.environ["QUENCH_OTG"].split(":")[1])

    @pytest.fixture(scope="module")
    def get_snappi_ports(tbinfo):
        return [{"location": f"127.0.0.1;1;{n + 1}", "ip": tbinfo["ptf_ip"], "port_id": str(n + 1), "peer_port": name, "peer_device": NAME, "speed": str(SPEED_MBPS), "card_id": 1,
                 "intf_config_changed": False, "api_server_ip": tbinfo["ptf_ip"], "asic_type": "vs", "duthost": DUT, "snappi_speed_type": "speed_1_gbps",
                 "asic_value": None} for n, name in enumerate(PORTS)]

    for found in (snappi_api_serv_port, get_snappi_ports):
        setattr(fixtures, found.__name__, found)
    fixtures.get_snappi_ports_single_dut = fixtures.get_snappi_ports_multi_dut = get_snappi_ports
