# SPDX-License-Identifier: BSD-3-Clause
"""The model of a switch out of an INI, as quench-switch prints it with all keys. What the model has no member for stays as it is."""
from __future__ import annotations

import dataclasses
import re

from . import program
from .switch import CLASS_PROFILES, CLASSES, DEFAULT, DSCPS, LOSSLESS, Curve, Port, Profile, Qos, Queue, Sched, Switch
from .values import RATES, SHARES, SIZES, map_of, scaled, set_of


def _profile(keys: program.Section) -> Profile:
    def size(key: str) -> int:
        return scaled(keys.pop(key, "0"), SIZES)

    xoff = keys.pop("xoff_bytes", "0")
    return Profile(size("size_bytes"), keys.pop("dynamic") == "on", int(keys.pop("dynamic_th")), size("static_th_bytes"), size("xon_bytes"),
                   size("xon_offset_bytes"), None if xoff == "auto" else scaled(xoff, SIZES))


def _curve(keys: program.Section) -> Curve:
    def size(key: str) -> int:
        return scaled(keys.pop(key), SIZES)

    def ppm(key: str) -> int:
        return scaled(keys.pop(key), SHARES)

    return Curve(keys.pop("wred_green_enable") == "on", keys.pop("ecn") == "ecn_all", size("green_min_threshold_bytes"), size("green_max_threshold_bytes"),
                 ppm("green_drop_probability_ppm"), size("ecn_green_min_threshold_bytes"), size("ecn_green_max_threshold_bytes"),
                 ppm("ecn_green_mark_probability_ppm"), int(keys.pop("wred_weight")))


def _qos(text: dict[str, str]) -> Qos:
    return Qos(text["trust"], map_of(text["dscp_to_tc_map"], DSCPS), map_of(text["dot1p_to_tc_map"], CLASSES), map_of(text["tc_to_queue_map"], CLASSES),
               map_of(text["tc_to_priority_group_map"], CLASSES), map_of(text["pfc_priority_to_queue_map"], CLASSES), set_of(text["pfc_enable"]))


def _port(i: int, keys: program.Section, shared: program.Section, sections: program.Sections) -> Port:
    own = {key: keys.pop(key) if keys.get(key, DEFAULT) != DEFAULT else text for key, text in shared.items()}
    for key in shared:
        keys.pop(key, None)
    port = Port(keys.pop("name"), scaled(keys.pop("link_speed_bps"), RATES), int(keys.pop("cable_length_m")))
    port.access_vlan, port.tagged_vlans = int(keys.pop("access_vlan")), keys.pop("tagged_vlans")
    port.qos = _qos(own)
    port.sched = Sched(set(set_of(own["strict_queues"])), map_of(own["dwrr_weight"], CLASSES))
    for q in range(CLASSES):
        found = sections.get(f"queue {i}|{q}", sections.get(f"queue {q}", {}))
        burst = found.get("burst_bytes")
        port.queues[q] = Queue(found.get("wred_profile", DEFAULT), found.get("buffer_profile", DEFAULT), scaled(found.get("min_rate_bps", "0"), RATES),
                               scaled(found.get("max_rate_bps", "0"), RATES), None if burst is None else scaled(burst, SIZES), found.get("marking", "wred"))
        port.groups[q] = sections.get(f"pg {i}|{q}", sections.get(f"pg {q}", {})).get("buffer_profile", DEFAULT)
    port.keys = keys
    return port


def from_sections(sections: program.Sections) -> Switch:
    rest = {name: dict(keys) for name, keys in sections.items()}
    switch = Switch()
    keys = rest["switch"]
    switch.wred_queues = set(set_of(keys.pop("wred_queues")))
    switch.max_frame, switch.buffer = scaled(keys.pop("max_frame_bytes"), SIZES), scaled(keys.pop("buffer_bytes"), SIZES)
    switch.shared_headroom = scaled(keys.pop("shared_headroom_pool_bytes"), SIZES)
    switch.lossy_pool, switch.egress_lossy_pool = scaled(keys.pop("lossy_pool_bytes"), SIZES), scaled(keys.pop("egress_lossy_pool_bytes"), SIZES)
    switch.vlan_filtering = keys.pop("vlan_filtering") == "on"
    switch.wred = _curve(rest["wred"])
    shared = rest.pop("qos_map") | rest.pop("scheduler")
    for name, own in list(rest.items()):
        kind, _, which = name.partition(" ")
        if kind == "port":
            switch.ports.append(_port(int(which), own, shared, rest))
        elif kind == "buffer_profile":
            (switch.class_profiles if which in CLASS_PROFILES else switch.profiles)[which] = _profile(own)
        elif kind == "wred" and which:
            # Before it is taken apart: a key that no curve of the model has.
            if own["nonect_drop_in_lossless"] != "off":
                switch.set(name, "nonect_drop_in_lossless", own["nonect_drop_in_lossless"])
            switch.curves[which] = _curve(own)
        elif kind == "tc":
            switch.class_mtu[int(which)] = scaled(own["mtu_bytes"], SIZES)
        elif kind == "fdb":
            switch.stations[f"{own['mac'].replace(':', '')}_{own['vlan']}"] = own
        elif kind == "interface":
            switch.interfaces[which] = own
        elif kind == "route":
            switch.routes[which] = [] if own["nexthop"] == "blackhole" else [hop.strip() for hop in own["nexthop"].split(",")]
        elif kind == "neighbor":
            switch.neighbors[which] = own["mac"]
        elif kind not in ("queue", "pg"):
            for key, value in own.items():
                switch.set(name, key, value)
    return switch


def fix_headroom(switch: Switch, comments: str) -> None:
    """Replace xoff_bytes = auto by the number of the most demanding port, which the program prints as a comment."""
    found = re.search(r"^# xoff_bytes = auto is (\d+) bytes(?: .* to (\d+) bytes)?", comments, re.M)
    # Without a comment, no group has it.
    most = int(found[2] or found[1]) if found else 0

    def fixed(profile: Profile) -> Profile:
        return profile if profile.xoff is not None else dataclasses.replace(profile, xoff=most)

    switch.class_profiles[LOSSLESS] = fixed(switch.class_profiles[LOSSLESS])
    switch.profiles = {name: fixed(profile) for name, profile in switch.profiles.items()}
