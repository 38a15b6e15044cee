# SPDX-License-Identifier: BSD-3-Clause
"""Sections of hosts: congestion control, windows, ACKs."""
from __future__ import annotations

import math
from collections.abc import Callable

from .config import Config
from .fabric import Fabric
from .lines import Value

MAX_INT_SLOTS = 6
MAX_WINDOW, MAX_RATE_WINDOW = 2**23 - 1, 10**9
CC = {"1": "dcqcn", "3": "hpcc", "7": "timely", "8": "dctcp", "11": "none"}
CC_NAMES = {"10": "HPCC-PINT"}
Keys = tuple[tuple[str, str], ...]


def choose_cc(config: Config, replace: str | None, is_inet_tub: bool) -> str:
    """@raise Refused: quench-lab has not the algorithm, and nothing replaces it"""
    mode = config["CC_MODE"]
    number = mode.words[0]
    is_powertcp = number == "3" and is_inet_tub
    if number in CC and not is_powertcp:
        return CC[number]
    name = ", PowerTCP" if is_powertcp else f", {CC_NAMES[number]}" if number in CC_NAMES else ""
    if replace is None:
        mode.refuse(f"{number[:20]}{name}: quench-lab has {', '.join(sorted(CC.values()))}; --replace-cc takes one of them instead")
    mode.note(f"{name.removeprefix(', ') or 'unknown here'}: replaced by {replace}")
    return replace


class Hosts:
    def __init__(self, config: Config, cc: str, fabric: Fabric, payload: int, mtu: int) -> None:
        self.config, self.cc, self.payload, self.mtu = config, cc, payload, mtu
        self.rtt_ns, self.bdp_bytes, self.switches = fabric.longest(payload)

    def sections(self) -> str:
        text = f"[nic]\ncc = {self.cc}\n"
        if self.cc == "hpcc":
            return text + self._hpcc()
        text += self._window()
        own = {"dcqcn": self._dcqcn, "dctcp": self._dctcp, "timely": self._timely}.get(self.cc)
        return text + (own() if own is not None else "")

    def _settings(self, keys: Keys, parse: Callable[[Value], object]) -> str:
        """Keys of a section. The simulator has no value of its own for some: then quench-lab's own holds."""
        return "".join(f"{ours} = {parse(self.config[key])}\n" for key, ours in keys if self.config.gives(key))

    def _ack_every(self) -> int:
        """Their receiver counts bytes, whatever the manual says: an interval up to a packet is an ACK for each."""
        return max(1, math.ceil(self.config["L2_ACK_INTERVAL"].whole(0, 65535 * self.payload) / self.payload))

    def _window(self) -> str:
        """Theirs is in bytes of payload: the largest product of rate and round trip, with VAR_WIN x rate / line rate."""
        every, follows = self._ack_every(), self.config["VAR_WIN"].is_on()
        if not self.config["HAS_WIN"].is_on():
            return f"ack_every = {every}\n"
        if not self.config["GLOBAL_T"].is_on():
            self.config["GLOBAL_T"].lose("all QPs have the window of the longest path")
        packets = max(1, math.ceil(self.bdp_bytes / self.mtu))
        if packets > MAX_WINDOW or self.bdp_bytes > MAX_RATE_WINDOW:
            self.config["HAS_WIN"].lose(f"a window of {round(self.bdp_bytes)} bytes: there is none here, since quench-lab allows {MAX_RATE_WINDOW}")
            return f"ack_every = {every}\n"
        if follows and every > 1:
            self.config["L2_ACK_INTERVAL"].note("an ACK for each packet, which a window that follows the rate needs here")
        return (f"ack_every = {1 if follows else every}\nwindow_packets = {packets}\n"
                + (f"rate_window_bytes = {max(1, int(self.bdp_bytes))}B\n" if follows else ""))

    def _dcqcn(self) -> str:
        """Their reaction point: alpha and cuts in slots as mlx's; increases, hyper ones too, by the timer alone; no CNP is held back."""
        text = ("\n[rp]\nrp_profile = mlx\nrp_initial_alpha_value = 1024\nrp_clamp_tgt_rate_ati = on\nrp_byte_reset_bytes = 0\n"
                "rp_hyper_by_timer = on\n")
        text += self._settings((("ALPHA_RESUME_INTERVAL", "rp_dce_tcp_rtt_us"), ("RP_TIMER", "rp_time_reset_us"),
                                ("RATE_DECREASE_INTERVAL", "rp_rate_reduce_monitor_period_us")), lambda v: f"{round(v.number(1, 2**32 - 1))}us")
        text += self._settings((("FAST_RECOVERY_TIMES", "rp_threshold"),), lambda v: v.whole(0, 31))
        text += self._settings((("RATE_AI", "rp_ai_rate_bps"), ("RATE_HAI", "rp_hai_rate_bps")), Value.rate_or_0)
        text += self._settings((("MIN_RATE", "rp_min_rate_bps"),), Value.rate)
        text += self._settings((("EWMA_GAIN", "rp_dce_tcp_g"),), lambda v: round(1024 * (1 - v.number(0, 1))))
        text += self._settings((("CLAMP_TARGET_RATE", "rp_clamp_tgt_rate"),), lambda v: "on" if v.is_on() else "off")
        return text + "\n[np]\nnp_min_time_between_cnps_us = 0\n"

    def _dctcp(self) -> str:
        """With an echo of each mark, as theirs in each ACK."""
        return ("\n[dctcp]\n" + self._settings((("DCTCP_RATE_AI", "dctcp_ai_rate_bps"),), Value.rate_or_0)
                + self._settings((("MIN_RATE", "dctcp_min_rate_bps"),), Value.rate)
                + self._settings((("EWMA_GAIN", "dctcp_g"),), lambda v: max(1, round(1024 * v.number(0, 1))))
                + "\n[np]\nnp_min_time_between_cnps_us = 0\n")

    def _timely(self) -> str:
        """Their alpha, beta and T are constants of the code, and ours by default."""
        config = self.config
        config["CC_MODE"].note("a round trip below T_low does not count for TIMELY's fast rise here, as in its paper: queues are shorter")
        if config.has("RATE_HAI") and config.has("RATE_AI") and config["RATE_HAI"].rate_or_0() != 5 * config["RATE_AI"].rate_or_0():
            config["RATE_HAI"].lose("TIMELY's fast rise is 5 times RATE_AI here")
        return "\n[timely]\n" + self._settings((("RATE_AI", "timely_ai_rate_bps"), ("MIN_RATE", "timely_min_rate_bps")), Value.rate)

    def _hpcc(self) -> str:
        """Their rate grows by RATE_AI in a round trip, so the window grows by RATE_AI x T. Each ACK has an effect, as with FAST_REACT."""
        config = self.config
        if self.switches > MAX_INT_SLOTS:
            config["CC_MODE"].refuse(f"3, HPCC: a path has {self.switches} switches, and quench-lab's telemetry has room for {MAX_INT_SLOTS}")
        if self._ack_every() > 1:
            config["L2_ACK_INTERVAL"].note("an ACK for each packet, since HPCC's window needs it here")
        for key, plain, why in (("FAST_REACT", "1", "each ACK has an effect here"), ("MULTI_RATE", "0", "a QP has one rate here, by its most loaded hop"),
                                ("SAMPLE_FEEDBACK", "0", "each ACK tells all hops here"), ("HAS_WIN", "1", "HPCC has a window here"),
                                ("VAR_WIN", "1", "HPCC's window follows its rate here"), ("GLOBAL_T", "1", "all QPs have the T of the longest path")):
            if config[key].is_on() != (plain == "1"):
                config[key].lose(why)
        text = f"ack_every = 1\nint_slots = {self.switches}\n\n[hpcc]\nT = {max(1, round(self.rtt_ns))}ns\n"
        text += self._settings((("RATE_AI", "W_AI"),), lambda v: f"{round(v.rate_or_0() * self.rtt_ns / 8e9)}B")
        text += self._settings((("U_TARGET", "eta"),), lambda v: v.number(0, 1))
        text += self._settings((("MI_THRESH", "maxStage"),), lambda v: v.whole(0, 65535))
        return text + self._settings((("MIN_RATE", "hpcc_min_rate_bps"),), Value.rate)
