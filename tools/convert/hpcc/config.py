# SPDX-License-Identifier: BSD-3-Clause
"""The configuration: a key and its words in a line.

A key that is missing has the value that the simulator gives it (scratch/third.cc), not that of quench-lab.
"""
from __future__ import annotations

import math
import pathlib

from ..log import Log
from .lines import Value, read

DEFAULTS = {"CC_MODE": "1", "ENABLE_QCN": "1", "ENABLE_QBB": "1", "PACKET_PAYLOAD_SIZE": "1000", "SIMULATOR_STOP_TIME": "3.01", "L2_ACK_INTERVAL": "0",
            "ALPHA_RESUME_INTERVAL": "55", "RATE_DECREASE_INTERVAL": "4", "FAST_RECOVERY_TIMES": "5", "MIN_RATE": "100Mb/s",
            "DCTCP_RATE_AI": "1000Mb/s", "CLAMP_TARGET_RATE": "0", "ERROR_RATE_PER_LINK": "0", "HAS_WIN": "1", "GLOBAL_T": "1", "VAR_WIN": "0",
            "MI_THRESH": "5", "U_TARGET": "0.95", "FAST_REACT": "1", "MULTI_RATE": "1", "SAMPLE_FEEDBACK": "0", "BUFFER_SIZE": "16",
            "LINK_DOWN": "0 0 0"}
# The simulator has no value, or by a slip 0, for these.
WITHOUT_DEFAULT = ("RP_TIMER", "RATE_AI", "RATE_HAI", "EWMA_GAIN", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP", "TOPOLOGY_FILE", "FLOW_FILE")
# Keys that only the simulator of the DCQCN paper (bobzhuyb/ns3-rdma) has. Its flows count packets, and have an end.
OF_NS3_RDMA = ("APP_START_TIME", "APP_STOP_TIME", "BYTE_COUNTER", "CNP_INTERVAL", "NP_SAMPLING_INTERVAL", "SEND_IN_CHUNKS", "TCP_FLOW_FILE")
SAME = {"ENABLE_PFC": "ENABLE_QBB"}  # ConWeave's name
OUTPUTS = frozenset("""TRACE_FILE TRACE_OUTPUT_FILE FCT_OUTPUT_FILE PFC_OUTPUT_FILE QLEN_MON_FILE QLEN_MON_START QLEN_MON_END ENABLE_TRACE BW_MON_FILE
    RATE_MON_FILE CNP_MON_FILE MON_START MON_END QP_MON_INTERVAL QLEN_MON_INTERVAL BW_MON_INTERVAL NIC_TOTAL_PAUSE_TIME CNP_OUTPUT_FILE
    EST_ERROR_MON_FILE CONN_MON_FILE SND_RCV_OUTPUT_FILE VOQ_MON_FILE VOQ_MON_DETAIL_FILE UPLINK_MON_FILE SW_MONITORING_INTERVAL""".split())
OF_DCQCN = frozenset("RATE_DECREASE_INTERVAL ALPHA_RESUME_INTERVAL RP_TIMER FAST_RECOVERY_TIMES CLAMP_TARGET_RATE".split())
OF_HPCC = frozenset("FAST_REACT U_TARGET MI_THRESH MULTI_RATE SAMPLE_FEEDBACK INT_MULTI".split())
OF_PINT = frozenset("PINT_LOG_BASE PINT_PROB".split())
OF_CC = {"dcqcn": OF_DCQCN | {"RATE_AI", "RATE_HAI", "EWMA_GAIN", "MIN_RATE"}, "hpcc": OF_HPCC | {"RATE_AI", "MIN_RATE"},
         "timely": frozenset({"RATE_AI", "RATE_HAI", "MIN_RATE"}), "dctcp": frozenset({"DCTCP_RATE_AI", "EWMA_GAIN", "MIN_RATE"}), "none": frozenset()}
# Without effect in the simulator, or the same here with any value.
WITHOUT_EFFECT = frozenset("""USE_DYNAMIC_PFC_THRESHOLD L2_CHUNK_SIZE DATA_RATE LINK_DELAY PAUSE_TIME L2_BACK_TO_ZERO ACK_HIGH_PRIO RATE_BOUND LB_MODE
    ENABLE_IRN FLOW_INPUT_FILE FLOWGEN_START_TIME FLOWGEN_STOP_TIME LOAD RANDOM_SEED""".split())
# ConWeave's run ends this long after its last flow may start.
EXTRA_TIME_S = 0.1
# ... except with another value than this, which has no counterpart.
PLAIN = {
    "L2_BACK_TO_ZERO": ("0", "the NIC goes back to the lost packet"),
    "ACK_HIGH_PRIO": ("0", "ACKs share the queue of data; CNPs have a queue of their own"),
    "RATE_BOUND": ("1", "QPs are always paced"),
    "LB_MODE": ("0", "switches choose among equal paths by a hash of the flow (ECMP)"),
    "ENABLE_IRN": ("0", "the NIC goes back to the lost packet"),
}


class Config:
    """The values by key; those that are missing have the simulator's defaults."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.log = path, Log(str(path))
        self.given: dict[str, Value] = {}
        for n, line in enumerate(read(path, self.log).splitlines(), 1):
            words = line.split("{")[0].split("#")[0].split()
            if not words:
                continue
            value = Value(self.log, n, words[0][:80], words[1:])
            if value.key in OF_NS3_RDMA:
                value.refuse("a key of ns3-rdma, the simulator of the DCQCN paper: expected a configuration of HPCC's simulator, whose flows count bytes")
            if not value.words:
                value.refuse("expected a value")
            self.given[SAME.get(value.key, value.key)] = value

    def has(self, key: str) -> bool:
        return key in self.given

    def __getitem__(self, key: str) -> Value:
        if key in self.given:
            return self.given[key]
        if key in DEFAULTS:
            return Value(self.log, 0, key, DEFAULTS[key].split())
        self.log.refuse(f" expected {key}, for which the simulator has no value of its own")

    def gives(self, key: str) -> bool:
        """Is there a value, of the file or of the simulator? Else report it."""
        if not self.has(key) and key not in DEFAULTS:
            self.log.note(f" no {key}, for which the simulator has no value of its own: quench-lab's own is taken")
        return self.has(key) or key in DEFAULTS

    def stop_s(self) -> float:
        if not self.has("SIMULATOR_STOP_TIME") and self.has("FLOWGEN_STOP_TIME"):
            return self["FLOWGEN_STOP_TIME"].number(0, 1e18) + EXTRA_TIME_S
        return self["SIMULATOR_STOP_TIME"].number(0, 1e18)

    def beside(self, key: str) -> pathlib.Path:
        """A file that a key names. HPCC's paths are relative to the simulator's folder; the configuration is in a subfolder of it."""
        name = self[key].words[0]
        for folder in (self.path.parent, *self.path.resolve().parents):
            try:
                if (folder / name).is_file():
                    return folder / name
            except (OSError, ValueError):
                break
        option = "--topology" if key == "TOPOLOGY_FILE" else "--flows"
        self[key].refuse(f"{name[:200]}: no such file beside it, or beside a folder above it; {option} FILE names another")

    def curves(self) -> dict[int, tuple[float, float, float]]:
        """By rate: Kmin and Kmax in KB, and Pmax."""
        maps = [self._map(key, 1 if key == "PMAX_MAP" else 2e6) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")]
        for bps, least in maps[0].items():
            if least > maps[1].get(bps, math.inf):
                self["KMIN_MAP"].refuse(f"{least:g} KB at {bps} bit/s: expected at most {maps[1][bps]:g}, as KMAX_MAP says")
        return {bps: (maps[0][bps], maps[1][bps], maps[2][bps]) for bps in maps[0] if bps in maps[1] and bps in maps[2]}

    def _map(self, key: str, most: float) -> dict[int, float]:
        """n, and n pairs of a rate and a value."""
        value = self[key]
        n = value.whole(0, 1000)
        if len(value.words) % 2 == 0 or len(value.words) < 1 + 2 * n:
            value.refuse(f"expected {n} pairs of a rate and a value, not {len(value.words) - 1} words")
        more = len(value.words) // 2 - n
        if more > 0:
            value.note(f"{more} pairs after the {n} that the simulator reads are taken too")
            n += more
        return {value.whole(1, 10**13, i): value.number(0, most, i + 1) for i in range(1, 2 * n, 2)}

    def name_others(self, cc: str) -> None:
        """Report the keys that nothing has read."""
        carried = set(DEFAULTS) | set(WITHOUT_DEFAULT)
        others = {key for keys in OF_CC.values() for key in keys} - OF_CC[cc] | OF_PINT
        for key, value in self.given.items():
            if key in PLAIN and value.words[0] != PLAIN[key][0]:
                value.lose(PLAIN[key][1])
            elif key in WITHOUT_EFFECT or key in OUTPUTS or key in others or key.startswith("CONWEAVE_"):
                self.log.aside(key)
            elif key not in carried and key not in OF_CC[cc]:
                value.lose("not a key that this dialect knows")

