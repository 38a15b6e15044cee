# SPDX-License-Identifier: BSD-3-Clause
"""BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, and the profiles of whole ports.

For each class, one profile becomes the section of the class ([buffer_profile lossless] and so on): the one with SONiC's name for the
class, or else the one that most of its groups or queues use. Other profiles keep their names.
"""
from __future__ import annotations

import dataclasses
import re
from collections import Counter

from ..switch import (CLASS_PROFILES, CLASSES, EGRESS_LOSSLESS, EGRESS_LOSSY, LOSSLESS, LOSSY, MOST_BYTES, MOST_PROFILES, PROFILE_NAME, Profile,
                      is_profile_name)
from .tables import Tables

ASSUMED_BUFFER = 40000000  # if the pools have no size, because SONiC computes it
POOLS = {name: f"{name}_pool" if name.startswith("egress") else f"ingress_{name}_pool" for name in CLASS_PROFILES}
LISTS = {"BUFFER_PORT_INGRESS_PROFILE_LIST": "groups", "BUFFER_PORT_EGRESS_PROFILE_LIST": "queues"}
MOST_TH = 7  # of dynamic_th: 128 times the free buffer
PROFILES = {name: f"{name}_profile" if name.startswith("egress") else f"ingress_{name}_profile" for name in CLASS_PROFILES}


@dataclasses.dataclass
class FileProfile:
    pool: str
    profile: Profile
    has_xoff: bool
    users: Counter[str] = dataclasses.field(default_factory=Counter)  # groups or queues of a class with this profile


class Buffers:
    def __init__(self, tables: Tables) -> None:
        self.tables, self.switch, self.log = tables, tables.switch, tables.log
        self.lossless_queues = [port.qos.lossless_queues() for port in self.switch.ports]
        has_size = self._read_pools()
        self.profiles = {key: self._read_profile(key) for key in tables.keys("BUFFER_PROFILE")}
        self.uses: dict[tuple[bool, int, int], str] = {}  # of a group (True) or queue, port, number: the profile's name
        self._read_uses("BUFFER_PG", True)
        self._read_uses("BUFFER_QUEUE", False)
        for table, parts in LISTS.items():
            self._read_lists(table, parts)
        default_th = self._read_default_limit()
        if default_th is not None:
            self._set_lossless(dynamic_th=default_th)
        self._set_profiles()
        self._assume_headroom()
        if has_size:
            self._fit_buffer()
        else:
            self._assume_buffer()

    def _bytes(self, table: str, key: str, field: str) -> int | None:
        return self.tables.take_number(table, key, field, 0, MOST_BYTES)

    def _find_pools(self) -> None:
        """SONiC's names come first. A pool of another name belongs to the class that its profiles have."""
        pools = self.tables.table("BUFFER_POOL")
        self.pools = {own: name for own, name in POOLS.items() if self.tables.entry("BUFFER_POOL", name) is not None}
        for key in pools:
            kind = (self.tables.entry("BUFFER_POOL", key) or {}).get("type")
            if not isinstance(kind, str) or key in self.pools.values():
                continue
            is_lossless = "lossy" not in key and self._has_lossless_profile(key)
            own = (EGRESS_LOSSLESS if is_lossless else EGRESS_LOSSY) if kind == "egress" else LOSSLESS if is_lossless else LOSSY
            self.pools.setdefault(own, key)
        for own, name in POOLS.items():
            self.pools.setdefault(own, name)

    def _has_lossless_profile(self, pool: str) -> bool:
        return any("lossless" in key and isinstance(entry, dict) and entry.get("pool") in (pool, f"[BUFFER_POOL|{pool}]")
                   for key, entry in self.tables.table("BUFFER_PROFILE").items())

    def _read_pools(self) -> bool:
        """@return does the file give the size of the buffer?"""
        self._find_pools()
        # A pool of type both is that of groups and of queues.
        self.is_of_both = (self.tables.entry("BUFFER_POOL", self.pools[LOSSLESS]) or {}).get("type") == "both"
        size = {}
        for own in CLASS_PROFILES:
            size[own] = self._pool_size(own)
            # The mode is ignored: each profile says whether its limit is dynamic.
            for field in ("type", "mode"):
                self.tables.take("BUFFER_POOL", self.pools[own], field)
        # A pool without xoff shares no headroom, as one with 0.
        xoff = self._bytes("BUFFER_POOL", self.pools[LOSSLESS], "xoff") or 0
        self.pool_sizes = {self.pools[own]: size[own] for own in CLASS_PROFILES}
        if size[EGRESS_LOSSLESS] > 0:
            self.log.note(f" BUFFER_POOL|{self.pools[EGRESS_LOSSLESS]}|size: lossless queues share the whole buffer")
        self.switch.shared_headroom = xoff
        self.switch.lossy_pool, self.switch.egress_lossy_pool = size[LOSSY], size[EGRESS_LOSSY]
        self.switch.buffer = size[LOSSLESS] + xoff + size[LOSSY]
        # A switch without lossless classes has one pool.
        if size[LOSSLESS] == 0 and size[LOSSY] > 0 and self.tables.entry("BUFFER_POOL", self.pools[LOSSLESS]) is None:
            return True
        if size[LOSSLESS] == 0:
            self.log.note(f" BUFFER_POOL|{self.pools[LOSSLESS]}: no size; assumed: 40 MB, or twice the reserved bytes")
        return size[LOSSLESS] > 0

    def _pool_size(self, own: str) -> int:
        """0: the file does not give it, because SONiC computes it. A pool that has no room has no counterpart."""
        name = self.pools[own]
        size = self._bytes("BUFFER_POOL", name, "size")
        if size == 0:
            self.tables.lose("BUFFER_POOL", name, "size", "0", "a pool without room: in quench its class shares the buffer of the others")
        return size or 0

    def _read_lists(self, table: str, parts: str) -> None:
        """Profiles of a whole port: their limits have no counterpart, unless they allow all."""
        for key in self.tables.keys(table):
            place = self.tables.place(table, key)
            text = self.tables.take(table, key, "profile_list") if place is not None else None
            for part in text.split(",") if text else []:
                found = re.fullmatch(r"\[BUFFER_PROFILE\|(.*)\]", part)
                name = found[1] if found else part
                if name not in self.profiles:
                    self.tables.refuse(table, key, "profile_list", text, "names of entries of BUFFER_PROFILE")
                what = self._port_limit(self.profiles[name])
                if what:
                    self.tables.lose(table, key, "profile_list", name, f"{what} of a whole port: quench has those of its {parts}")
                else:
                    self.log.aside(f"{table} {name}")

    def _port_limit(self, own: FileProfile) -> str:
        """What a profile reserves or limits for a port."""
        profile = own.profile
        pool = self.pool_sizes.get(own.pool, 0)
        is_limit = profile.dynamic_th < MOST_TH if profile.dynamic else pool == 0 or profile.static_th < pool
        reserved, limit = f"{profile.size} reserved bytes" if profile.size else "", "the limit" if is_limit else ""
        return " and ".join(text for text in (reserved, limit) if text)

    def _read_profile(self, key: str) -> FileProfile:
        table = "BUFFER_PROFILE"
        if not is_profile_name(key):
            self.tables.refuse(table, key, None, None, PROFILE_NAME)
        pool = self.tables.take_reference(table, key, "pool", "BUFFER_POOL") or ""
        size, xon, offset, xoff = (self._bytes(table, key, field) for field in ("size", "xon", "xon_offset", "xoff"))
        dynamic_th = self.tables.take_number(table, key, "dynamic_th", -8, 7)
        static_th = self._bytes(table, key, "static_th")
        if static_th is not None and dynamic_th is not None:
            self.tables.refuse(table, key, "static_th", None, "one of static_th and dynamic_th")
        action = self.tables.take(table, key, "packet_discard_action")
        if action is not None and action != "drop":
            self.tables.lose(table, key, "packet_discard_action", action, "frames that do not fit are dropped")
        profile = Profile(size or 0, static_th is None, dynamic_th or 0, static_th or 0, xon or 0, offset or 0, xoff or 0)
        return FileProfile(pool, profile, xoff is not None)

    def _class_of(self, is_group: bool, port: int, i: int) -> str:
        if is_group:
            return LOSSLESS if i in self.switch.ports[port].qos.pfc_enable else LOSSY
        return EGRESS_LOSSLESS if i in self.lossless_queues[port] else EGRESS_LOSSY

    def _fits_pool(self, profile: FileProfile, own: str) -> bool:
        """Does the profile's pool match its class? In quench the class determines the pool."""
        if profile.pool == self.pools[LOSSY]:
            return own == LOSSY
        if profile.pool == self.pools[LOSSLESS]:
            return own == LOSSLESS or (own == LOSSY and self.switch.lossy_pool == 0) or self.is_of_both
        if profile.pool == self.pools[EGRESS_LOSSY]:
            return own == EGRESS_LOSSY
        return True

    def _read_uses(self, table: str, is_group: bool) -> None:
        for key in self.tables.keys(table):
            place = self.tables.place(table, key)
            if place is None:
                continue
            name = self.tables.take_reference(table, key, "profile", "BUFFER_PROFILE")
            # NULL: SONiC computes the profile, and so do we.
            if name is None or name == "NULL":
                continue
            profile = self.profiles[name]
            why = None
            for port in sorted(place.ports):
                for i in sorted(place.indices):
                    own = self._class_of(is_group, port, i)
                    if own != LOSSLESS and profile.has_xoff:
                        why = "has headroom, but does not belong to a priority in pfc_enable"
                        continue
                    if not self._fits_pool(profile, own):
                        why = "in part: the class decides whether the pool is that of lossless or of lossy traffic"
                    self.uses[is_group, port, i] = name
            if why is not None:
                self.tables.lose(table, key, "profile", name, why)

    def _choose(self, own: str) -> str | None:
        """The profile for a class: by SONiC's name, else the one with most users."""
        best, most = None, 0
        for name, profile in self.profiles.items():
            if name == PROFILES[own] and (own == LOSSLESS or not profile.has_xoff):
                return name
            if profile.users[own] > most:
                best, most = name, profile.users[own]
        return best

    def _set_profiles(self) -> None:
        """Profiles not chosen for a class get their own sections, used or not."""
        for (is_group, port, i), name in self.uses.items():
            self.profiles[name].users[self._class_of(is_group, port, i)] += 1
        self._set_lossless(xoff=0)  # _assume_headroom() follows
        chosen = {own: self._choose(own) for own in CLASS_PROFILES}
        for own, best in chosen.items():
            if best is not None:
                self.switch.class_profiles[own] = self.profiles[best].profile
        for (is_group, port, i), name in self.uses.items():
            if name == chosen[self._class_of(is_group, port, i)]:
                continue
            if is_group:
                self.switch.ports[port].groups[i] = name
            else:
                self.switch.ports[port].queues[i].profile = name
        for name, profile in self.profiles.items():
            # The profile of a class gets a name only if another class uses it too.
            if name in chosen.values() and not any(profile.users[own] > 0 and chosen[own] != name for own in CLASS_PROFILES):
                continue
            if len(self.switch.profiles) == MOST_PROFILES:
                self.tables.refuse("BUFFER_PROFILE", name, None, None, f"at most {MOST_PROFILES} profiles besides those of the classes")
            self.switch.profiles[name] = profile.profile

    def _set_lossless(self, **changes: int) -> None:
        self.switch.class_profiles[LOSSLESS] = dataclasses.replace(self.switch.class_profiles[LOSSLESS], **changes)

    def _read_default_limit(self) -> int | None:
        """The limit of the groups whose profile SONiC computes."""
        table = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
        key = next(iter(self.tables.keys(table)), None)
        return None if key is None else self.tables.take_number(table, key, "default_dynamic_th", -8, 7)

    def _assume_headroom(self) -> None:
        """Give each profile of lossless groups without headroom what the most demanding of its ports needs.

        SONiC computes the headroom of groups whose profile is NULL or missing; vendors' tables have the profile of the class without xoff
        beside them. A lossless group without headroom loses frames at each pause.
        """
        groups: Counter[str] = Counter()
        needed: dict[str, int] = {}
        for port in self.switch.ports:
            for i in port.qos.pfc_enable:
                name, profile = self.switch.group_profile(port, i)
                if profile.xoff == 0:
                    groups[name] += 1
                    needed[name] = max(needed.get(name, 0), self.switch.headroom(port))
        for name in ["", *self.switch.profiles]:
            if name not in groups:
                continue
            xoff = -(-needed[name] // 1000) * 1000
            if name:
                self.switch.profiles[name] = dataclasses.replace(self.switch.profiles[name], xoff=xoff)
            else:
                self._set_lossless(xoff=xoff)
            whose = f"of {name}" if name else "without their own profile"
            self.log.note(f" BUFFER_PG: {groups[name]} lossless groups {whose} have no headroom: assumed {xoff} bytes, which the most demanding of "
                          "their ports needs")

    def _assume_buffer(self) -> None:
        budget = self.switch.budget()
        self.switch.buffer = max(ASSUMED_BUFFER, 2 * max(budget.reserved + budget.headroom + self.switch.lossy_pool, budget.egress_reserved))

    def _fit_buffer(self) -> None:
        """Platforms differ in whether the size of a pool includes what its groups reserve."""
        budget = self.switch.budget()
        was = self.switch.buffer
        if budget.reserved + budget.headroom + self.switch.lossy_pool <= was and budget.egress_reserved <= was:
            return
        self.switch.buffer += max(budget.reserved + budget.headroom, budget.egress_reserved)
        self.log.note(f" BUFFER_POOL: the pools do not hold reserved bytes and headroom too: buffer_bytes is their {was} + {self.switch.buffer - was}")
