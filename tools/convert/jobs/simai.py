# SPDX-License-Identifier: BSD-3-Clause
"""Workloads of SimAI, as AICB generates them, to GOAL.

A line for each layer has three passes, each with a computation and a collective: forward, gradient of the input, gradient of the weights.
All ranks do the same. As in SimAI, the collectives of the first two passes are waited for; those of the weights run beside the layers that
follow, and each is waited for at the end of the iteration, after the time of its update.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from ..log import Log
from .collectives import Collectives, check
from .goal import GPU, MOST_NS, MOST_RANKS, UPDATES, Job
from .settings import OF_COLLECTIVES, OF_JOB, Settings

KEYS = ("ranks", "compute_scale", "comm_scale", *OF_COLLECTIVES, *OF_JOB)
TRANSFORMER, CHECKPOINTS, MICRO = "HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO"
KINDS = {"ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "REDUCESCATTER": "reduce_scatter", "ALLTOALL": "all_to_all", "BROADCAST": "broadcast"}
COLLECTIVE = re.compile(rf"({'|'.join(KINDS)})(?:_(EP|DP_EP))?")
MOST_LAYERS = 1_000_000
MOST_GPUS = 65536
MOST_BYTES = 1 << 45  # of a collective, as of quench-lab
FIELDS = 12


class Pass(NamedTuple):
    ns: int
    kind: str  # of the collective; "": none
    group: str  # TP, DP, EP or DP_EP
    n_bytes: int


class Layer(NamedTuple):
    forward: Pass
    inputs: Pass
    weights: Pass
    update_ns: int


class Header(NamedTuple):
    kind: str
    sizes: dict[str, int]  # model_parallel_NPU_group, ep, pp, all_gpus; those that the file has
    checkpoints: list[int]  # layers
    initiates: list[int]  # layers before whose gradients layers run forward again


class Workload:
    def __init__(self, text: str, log: Log, settings: Settings) -> None:
        self.log = log
        self.compute_scale, self.comm_scale = settings.positive("compute_scale", 1.0), settings.positive("comm_scale", 1.0)
        lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1)]
        lines = [(number, words) for number, words in lines if words]
        if len(lines) < 2:
            log.refuse(" expected a workload of SimAI: a line such as HYBRID_TRANSFORMER_FWD_IN_BCKWD, a line with the number of layers, and the layers")
        self.header = self._header(*lines[0])
        n_layers = self._number(lines[1][0], lines[1][1][0], 1, MOST_LAYERS, "a number of layers")
        if len(lines) < 2 + n_layers:
            log.refuse(f"{lines[1][0]}: {n_layers} layers: expected as many lines below, not {len(lines) - 2}")
        if len(lines) > 2 + n_layers:
            log.lose(f"{lines[2 + n_layers][0]}: {len(lines) - 2 - n_layers} lines after the {n_layers} layers")
        self.layers = [self._layer(*line) for line in lines[2:2 + n_layers]]
        self._check_checkpoints(lines[0][0])

    def _number(self, line: int, word: str, least: int, most: int, expected: str) -> int:
        try:
            value = float(word) if word.isascii() and "_" not in word else -1.0
        except ValueError:
            value = -1.0
        if not least <= value <= most:
            self.log.refuse(f"{line}: {word}: expected {expected} from {least} to {most}")
        return round(value)

    def _header(self, line: int, words: list[str]) -> Header:
        if words[0] not in (TRANSFORMER, CHECKPOINTS, MICRO):
            self.log.refuse(f"{line}: {words[0]}: expected {CHECKPOINTS}, {TRANSFORMER} or {MICRO}")
        sizes: dict[str, int] = {}
        layers: dict[str, list[int]] = {"checkpoints": [], "checkpoint_initiates": []}
        for i, word in enumerate(words[1:], 1):
            key, value = word.removesuffix(":"), words[i + 1] if i + 1 < len(words) else ""
            if key in ("model_parallel_NPU_group", "ep", "pp", "all_gpus", "pp_comm"):
                sizes[key] = self._number(line, value, 0 if key == "pp_comm" else 1, MOST_BYTES if key == "pp_comm" else MOST_GPUS, f"{key}: a number")
            elif key in layers:
                n = self._number(line, value, 0, MOST_LAYERS, f"{key}: a number of layers")
                if len(words) < i + 2 + n:
                    self.log.refuse(f"{line}: {key}: {n}: expected as many layers after it")
                layers[key] = [self._number(line, layer, 0, MOST_LAYERS, f"{key}: a layer") for layer in words[i + 2:i + 2 + n]]
        return Header(words[0], sizes, layers["checkpoints"], layers["checkpoint_initiates"])

    def _pass(self, line: int, words: list[str], group: str) -> Pass:
        ns = self._number(line, words[0], 0, MOST_NS, "nanoseconds")
        n_bytes = self._number(line, words[2], 0, MOST_BYTES, "bytes")
        found = COLLECTIVE.fullmatch(words[1])
        if found is None and words[1] != "NONE":
            self.log.refuse(f"{line}: {words[1]}: expected NONE, or one of {' '.join(KINDS)}, with _EP, _DP_EP or neither at its end")
        scaled_ns = round(ns * self.compute_scale)
        if found is None or n_bytes == 0:
            return Pass(scaled_ns, "", "", 0)
        return Pass(scaled_ns, KINDS[found[1]], found[2] or group, max(1, round(n_bytes * self.comm_scale)))

    def _layer(self, line: int, words: list[str]) -> Layer:
        if len(words) != FIELDS:
            self.log.refuse(f"{line}: {' '.join(words)[:80]}: expected {FIELDS} words: a name, -1, the time, collective and bytes of three passes, and the time of the update")
        return Layer(self._pass(line, words[2:5], "TP"), self._pass(line, words[5:8], "TP"), self._pass(line, words[8:11], "DP"),
                     round(self._number(line, words[11], 0, MOST_NS, "nanoseconds") * self.compute_scale))

    def _check_checkpoints(self, line: int) -> None:
        for layer in (*self.header.checkpoints, *self.header.initiates):
            if layer >= len(self.layers):
                self.log.refuse(f"{line}: layer {layer}: expected one from 0 to {len(self.layers) - 1}")
        for layer in self.header.initiates:
            if not any(checkpoint <= layer for checkpoint in self.header.checkpoints):
                self.log.refuse(f"{line}: checkpoint_initiates: layer {layer}: expected a layer of checkpoints at or before it")

    def again_before(self, layer: int) -> range:
        """Layers that run forward again before the gradients of one: from the last checkpoint on."""
        if layer not in self.header.initiates:
            return range(0)
        return range(max(checkpoint for checkpoint in self.header.checkpoints if checkpoint <= layer), layer)


class Groups:
    """Ranks of tensor, data and expert parallelism, as SimAI numbers them: those of a tensor group are neighbours, and the others are strided."""

    def __init__(self, n_ranks: int, tensor: int, expert: int) -> None:
        self.n_ranks = n_ranks
        strides = {"TP": (tensor, 1), "DP": (n_ranks // tensor, tensor), "EP": (expert, tensor), "DP_EP": (n_ranks // tensor // expert, tensor * expert),
                   "ALL": (n_ranks, 1)}
        self.of_kind = {kind: self._groups(size, stride) for kind, (size, stride) in strides.items()}

    def _groups(self, size: int, stride: int) -> list[list[int]]:
        return [list(range(first, first + size * stride, stride)) for begin in range(0, self.n_ranks, size * stride) for first in range(begin, begin + stride)]


class Program:
    """A workload as a job."""

    def __init__(self, workload: Workload, job: Job, groups: Groups, collectives: Collectives) -> None:
        self.workload, self.job, self.groups, self.collectives = workload, job, groups, collectives
        # By rank: what the next computation waits for; updates of weights.
        self.last: list[list[int]] = [[] for _ in job.ranks]

    def _compute(self, ns: int) -> None:
        if ns == 0:
            return
        for rank, last in zip(self.job.ranks, self.last):
            last[:] = [rank.calc(ns, GPU, last)]

    def _collective(self, p: Pass, update_ns: int | None = None) -> None:
        """With update_ns: beside what follows."""
        if not p.kind:
            return
        for group in self.groups.of_kind["ALL" if self.workload.header.kind == MICRO else p.group]:
            running = self.collectives.begin(p.kind, group, p.n_bytes)
            for number in group:
                end = running.add(number, self.last[number])
                if update_ns is None:
                    self.last[number] = [end]
                elif update_ns > 0:
                    self.job.ranks[number].calc(update_ns, UPDATES, [end])

    def convert(self) -> None:
        layers = self.workload.layers
        is_micro = self.workload.header.kind == MICRO
        for layer in layers:
            self._compute(layer.forward.ns)
            self._collective(layer.forward)
            if is_micro:
                self._compute(layer.inputs.ns)
                self._collective(layer.inputs)
                self._compute(layer.weights.ns)
                self._collective(layer.weights)
        for i in () if is_micro else reversed(range(len(layers))):
            for again in self.workload.again_before(i):
                self._compute(layers[again].forward.ns)
                self._collective(layers[again].forward)
            self._compute(layers[i].inputs.ns)
            self._collective(layers[i].inputs)
            self._compute(layers[i].weights.ns)
            self._collective(layers[i].weights, layers[i].update_ns)


def groups_of(header: Header, log: Log, settings: Settings) -> Groups:
    """@raise Refused"""
    sizes = header.sizes
    tensor, expert, pipeline = sizes.get("model_parallel_NPU_group", 1), sizes.get("ep", 1), sizes.get("pp", 1)
    n_ranks = settings.number("ranks", 1, MOST_RANKS)
    if n_ranks is None and "all_gpus" not in sizes:
        log.refuse("1: expected all_gpus: N in the first line, or --set ranks=N")
    if n_ranks is None:
        n_ranks = sizes["all_gpus"] // pipeline
        if pipeline > 1:
            log.lose(f"1: pp: {pipeline}: the job has the {n_ranks} ranks of a stage, without the messages between stages")
        if n_ranks > MOST_RANKS:
            log.refuse(f"1: {n_ranks} ranks: expected at most {MOST_RANKS}: --set ranks=N")
    if n_ranks % (tensor * expert) != 0:
        log.refuse(f"1: {n_ranks} ranks: expected a multiple of {tensor * expert}, the product of model_parallel_NPU_group and ep")
    return Groups(n_ranks, tensor, expert)


def convert(text: str, log: Log, given: list[str]) -> str:
    """The GOAL of a workload. @raise Refused"""
    settings = Settings(given, KEYS)
    workload = Workload(text, log, settings)
    groups = groups_of(workload.header, log, settings)
    job = Job(groups.n_ranks, log)
    collectives = Collectives(job, settings, log)
    Program(workload, job, groups, collectives).convert()
    collectives.say()
    made = job.text()
    check(job, made, log)
    return made
