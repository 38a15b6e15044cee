#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""import chakra, simai and nccl: traces and workloads of training as jobs, which quench-lab runs."""
import gzip
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import tracemalloc
import unittest

from case import FIXTURES
from convert import program
from convert.command import JOBS, read_input
from convert.hpcc import lines
from convert.jobs import chakra_file, goal
from convert.log import Log, Refused

try:
    CLASSES = chakra_file.message_classes()
except Refused as error:
    print(f"SKIP: {error}")
    raise SystemExit(77) from None

FABRIC = "[fabric]\ntopology = star\nhosts = 8\nlink_rate_bps = 400G\nlink_delay_ns = 500\nduration_ns = 100ms\n[nic]\ncc = none\n[job j]\nmtu_bytes = 4096\n"
COMP, SEND, RECV, COLLECTIVE = chakra_file.COMP, chakra_file.SEND, chakra_file.RECV, chakra_file.COLLECTIVE
KINDS = {"all_reduce": 0, "all_gather": 2, "broadcast": 5, "all_to_all": 6, "reduce_scatter": 7}


def varint(value):
    low = value & 127
    return bytes([low | 128]) + varint(value >> 7) if value > 127 else bytes([low])


def node(number, kind, before=(), us=0, name="", **attributes):
    made = CLASSES["Node"](id=number, name=name or f"n{number}", type=kind, data_deps=list(before), duration_micros=us)
    for key, value in attributes.items():
        field = "bool_val" if isinstance(value, bool) else "string_val" if isinstance(value, str) else "int64_val"
        made.attr.add(name=key, **{field: value})
    return made


def collective(number, kind, n_bytes, before=(), **more):
    return node(number, COLLECTIVE, before, comm_type=KINDS.get(kind, kind), comm_size=n_bytes, **more)


def trace(*nodes):
    messages = [CLASSES["Metadata"](version="0.0.4"), *nodes]
    return b"".join(varint(len(data)) + data for data in (message.SerializeToString() for message in messages))


class Case(unittest.TestCase):
    DIALECT = ""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="quench-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def make(self, path, *settings):
        self.log = Log("in")
        return JOBS[self.DIALECT](str(path), self.log, list(settings))

    def refuses(self, words, path, *settings):
        with self.assertRaises(Refused) as caught:
            self.make(path, *settings)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def jct(self, keys, fabric=FABRIC):
        """Mean JCT in ns of a job with these keys."""
        path = self.folder / "scenario.ini"
        path.write_text(fabric + keys, encoding="utf-8")
        done = subprocess.run([program.place_of("quench-lab"), "--json", "-", path], capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["jobs"][0]["jct_mean_ns"]

    def jct_of(self, goal, n_ranks):
        (self.folder / "j.goal").write_text(goal, encoding="utf-8")
        return self.jct(f"goal = j.goal\nranks = 1-{n_ranks}\n")


class Files(Case):
    def test_a_small_file_takes_little_memory(self):
        """Not as much as the largest that is taken."""
        path = self.folder / "small"
        for data in (b"x" * 1000, gzip.compress(b"x" * 1000)):
            path.write_bytes(data)
            for read in (chakra_file.read_bytes, read_input, lambda small: lines.read(small, Log("in"))):
                tracemalloc.start()
                read(path)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                self.assertLess(peak, 1 << 20)


class Chakra(Case):
    DIALECT = "chakra"

    def traces(self, *ranks):
        """Files of ranks, each a list of nodes. @return their prefix"""
        for old in self.folder.glob("t.*.et"):
            old.unlink()
        for number, nodes in enumerate(ranks):
            (self.folder / f"t.{number}.et").write_bytes(trace(*nodes))
        return self.folder / "t"

    def test_a_collective_takes_as_long_as_that_of_a_job_section(self):
        for kind, of_section, settings in (("all_reduce", 1 << 20, ()), ("all_reduce", 1 << 20, ("all_reduce=halving_doubling",)), ("all_gather", 4 << 20, ()),
                                           ("reduce_scatter", 1 << 20, ("chunk_bytes=64KB",)), ("all_to_all", 1 << 20, ("all_to_all=pairwise",)),
                                           ("broadcast", 1 << 20, ())):
            keys = "".join(f"{'algorithm' if key == kind else key} = {value}\n" for key, value in (setting.split("=") for setting in settings))
            goal = self.make(self.traces(*[[collective(1, kind, 1 << 20)]] * 4), *settings)
            self.assertEqual(self.jct_of(goal, 4), self.jct(f"ranks = 1-4\ncollective = {kind}\nbytes = {of_section}B\n{keys}"), (kind, settings))
            self.assertEqual((self.log.lost, self.log.notes), ([], []))

    def test_nodes_wait_for_those_that_they_depend_on(self):
        # Ids and places in the file are in no order.
        goal = self.make(self.traces([node(9, SEND, [4], comm_dst=1, comm_size=1000, comm_tag=7), node(4, COMP, [2], us=30), node(2, COMP, us=20),
                                      node(5, COMP, us=11, is_cpu_op=True)],
                                     [node(1, RECV, comm_src=0, comm_size=1000, comm_tag=7), node(2, COMP, [1], us=40)]))
        self.assertIn("rank 0 {\nl0: calc 20000\nl1: calc 30000\nl2: send 1000b to 1 tag 7\nl3: calc 11000 cpu 2\nl1 requires l0\nl2 requires l1\n}", goal)
        self.assertIn("rank 1 {\nl0: recv 1000b from 0 tag 7\nl1: calc 40000\nl1 requires l0\n}", goal)
        ns = self.jct_of(goal, 2)
        self.assertTrue(91_000 < ns < 93_000, ns)

    def test_a_ring_of_messages_is_that_of_a_job_section(self):
        """As astra-sim's custom collectives are: a rank receives after it has sent."""
        n, part = 4, 65536
        ranks = [[made for step in range(2 * (n - 1))
                  for made in (node(2 * step + 1, SEND, [2 * step] if step else [], comm_dst=(rank + 1) % n, comm_size=part),
                               node(2 * step + 2, RECV, [2 * step + 1], comm_src=(rank - 1) % n, comm_size=part))] for rank in range(n)]
        # A message is acknowledged a link's delay after it has arrived, and only then the rank waits for the next one, which has arrived.
        section = self.jct(f"ranks = 1-4\ncollective = all_reduce\nbytes = {n * part}B\n")
        self.assertTrue(section < self.jct_of(self.make(self.traces(*ranks)), n) < 1.5 * section)

    def test_groups_have_collectives_of_their_own(self):
        (self.folder / "groups.json").write_text('{"1": [0, 2], "2": [1, 3]}', encoding="utf-8")
        ranks = [[collective(1, "all_reduce", 40000, pg_name=str(1 + rank % 2)), collective(2, "all_gather", 1000, [1])] for rank in range(4)]
        goal = self.make(self.traces(*ranks), f"groups={self.folder / 'groups.json'}")
        self.assertIn("rank 2 {\nl0: send 20000b to 0 tag", goal)
        tags = re.findall(r"tag (\d+)", goal)
        self.assertEqual(len(set(tags)), 3)
        self.refuses("rank 0: node 1 (n1): pg_name = 1: expected a group of --set groups=FILE", self.traces(*ranks))
        # PyTorch's own, in a node of the trace.
        made = node(7, chakra_file.METADATA, name="## process_group:init ##")
        made.inputs.values = "['[{\"pg_name\": \"1\", \"ranks\": [0, 2]}, {\"pg_name\": \"2\", \"ranks\": [1, 3]}, {\"pg_name\": \"0\", \"ranks\": []}]']"
        self.assertEqual(re.sub("(?m)^l\\d+: calc 0 cpu 1\n|#.*", "", self.make(self.traces(*[[*nodes, made] for nodes in ranks]))).count("send"), goal.count("send"))

    def test_computations_without_duration_need_a_rate(self):
        path = self.traces([node(1, COMP, num_ops=2_000_000)])
        self.assertIn("calc 0\n", self.make(path))
        self.assertIn("1 COMP nodes have num_ops and no duration", self.log.notes[0])
        self.assertIn("calc 2000\n", self.make(path, "ops_per_second=1e12"))
        self.assertEqual(self.log.notes, [])
        self.refuses("ops_per_second=0: expected a number above 0", path, "ops_per_second=0")

    def test_all_ranks_may_follow_one_file(self):
        goal = self.make(self.traces([collective(1, "all_reduce", 4096)]), "ranks=4")
        self.assertIn("num_ranks 4\n", goal)
        self.assertIn("all 4 ranks follow the only file", self.log.notes[0])
        self.refuses("--set ranks=3: expected 2", self.traces([], []), "ranks=3")

    def test_what_is_not_carried_over_is_said(self):
        self.make(self.traces(*[[node(1, COLLECTIVE, [5, 2], us=3, comm_type=1, comm_size=5), node(2, COMP, [1], us=3), collective(3, "all_reduce", 3),
                                 collective(4, 9, 0), node(6, chakra_file.MEM_LOAD, us=1)]] * 2))
        self.assertEqual(self.log.lost, [" 2 dependencies in a circle: the last of each", " 2 dependencies on nodes that a trace does not have",
                                         " 2 collectives REDUCE: computations of their duration"])
        self.assertEqual(self.log.notes, [" 2 MEM_LOAD and MEM_STORE nodes: computations of their duration",
                                          " 2 collectives are smaller than two bytes for each message: they have two"])

    def test_a_trace_may_be_compressed(self):
        path = self.traces([node(1, COMP, us=5)])
        plain = self.make(path)
        (self.folder / "t.0.et").write_bytes(gzip.compress((self.folder / "t.0.et").read_bytes()))
        self.assertEqual(self.make(path), plain)
        (self.folder / "t.0.et").write_bytes((self.folder / "t.0.et").read_bytes()[:-9])
        self.refuses("t.0.et: expected a whole gzip file", path)

    def test_bad_files_are_refused_in_a_line(self):
        path = self.traces([node(1, COMP, us=5)])
        data = (self.folder / "t.0.et").read_bytes()
        for text, words in ((b"", "not an empty file"), (data[:-1], "of a message, not the end of the file"), (b"\xff" * 20, "byte 0: expected the length"),
                            (b"{}\n", "byte 0: expected 123 bytes"), (b"\x02\x0a\x50", "whose first message is GlobalMetadata"),
                            (data + b"\x02\xff\xff", "expected a node of a Chakra trace")):
            (self.folder / "t.0.et").write_bytes(text)
            self.refuses(words, path)
        self.refuses("none.0.et does not exist", self.folder / "none")
        path = self.traces([], [], [])
        (self.folder / "t.1.et").unlink()
        self.refuses("t.1.et does not exist, and a later one does", path)
        self.refuses("--set rank=4: expected KEY=VALUE with one of ranks, groups", path, "rank=4")

    def test_bad_nodes_are_refused_in_a_line(self):
        for nodes, words in (([node(1, COMP), node(1, COMP)], "an id that no other node has"), ([node(1, 99)], "type 99: expected one of Chakra, from 0 to 7"),
                             ([node(1, SEND, comm_size=5, comm_dst=2)], "comm_dst = 2: expected a whole number from 0 to 1"),
                             ([node(1, SEND, comm_size=5, comm_dst=0)], "comm_dst = 0: expected another rank"), ([node(1, SEND, comm_dst=1)], "comm_size = None"),
                             ([node(1, SEND, comm_size=5, comm_dst=1, comm_src=1)], "comm_src = 1: expected 0"),
                             ([node(1, SEND, comm_size=5, comm_dst=1, comm_tag=1 << 29)], "comm_tag = 536870912"),
                             ([node(1, SEND, comm_size=5, comm_dst=1)], "a job that quench-lab refuses: job.goal:4: expected rank 0: send 5b to 1 tag 0"),
                             ([collective(1, 11, 5)], "comm_type = 11"), ([collective(1, "all_reduce", -1)], "comm_size = -1"),
                             ([collective(1, "all_reduce", 5)], "collective 1 of group of all ranks, which rank 0 in node 1 begins: rank 1 has none")):
            self.refuses(words, self.traces(nodes, []))
        self.refuses("rank 1: node 8 (n8): all_to_all of 64 bytes: expected all_reduce of 64 bytes, as rank 0 in node 1",
                     self.traces([collective(1, "all_reduce", 64)], [collective(8, "all_to_all", 64)]))
        self.refuses("algorithm = tree: expected auto, ring", self.traces(*[[collective(1, "all_reduce", 64)]] * 2), "all_reduce=tree")

    def test_any_change_of_a_byte_is_taken_or_refused(self):
        path = self.traces([collective(1, "all_reduce", 64, [3]), node(3, COMP, us=4)], [collective(1, "all_reduce", 64)])
        data = (self.folder / "t.1.et").read_bytes()
        for i in range(0, len(data), 9):
            (self.folder / "t.1.et").write_bytes(data[:i] + struct.pack("B", data[i] ^ 0x24) + data[i + 1:])
            try:
                self.make(path)
            except Refused as error:
                self.assertNotIn("\n", str(error))


class SimAI(Case):
    DIALECT = "simai"
    HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0"

    def workload(self, *layers, head=HEAD):
        path = self.folder / "w.txt"
        path.write_text("\n".join([head, str(len(layers)), *layers]), encoding="utf-8")
        return path

    def test_passes_of_a_layer_follow_each_other(self):
        goal = self.make(self.workload("a -1 1000 NONE 0 2000 NONE 0 3000 NONE 0 9", "b -1 4000 NONE 0 5000 NONE 0 6000 NONE 0 9"))
        self.assertIn("rank 7 {\nl0: calc 1000\nl1: calc 4000\nl2: calc 5000\nl3: calc 6000\nl4: calc 2000\nl5: calc 3000\nl1 requires l0\nl2 requires l1\n", goal)
        self.assertEqual(self.jct_of(goal, 8), 21000)

    def test_groups_are_those_of_simai(self):
        for words, peer in (("4 ALLREDUCE 400 0 NONE 0 0 NONE 0 0", 1), ("4 ALLTOALL_EP 400 0 NONE 0 0 NONE 0 0", 2), ("4 NONE 0 0 ALLGATHER_DP_EP 400 0 NONE 0 0", 4),
                            ("4 NONE 0 0 NONE 0 0 REDUCESCATTER 400 0", 2)):
            goal = self.make(self.workload(f"a -1 {words}"))
            self.assertRegex(goal, rf"rank 0 {{\nl0: calc 4\nl1: send \d+b to {peer} ")

    def test_weights_are_exchanged_beside_the_layers_that_follow(self):
        ring = self.jct("ranks = 1-4\ncollective = all_reduce\nbytes = 1MB\n")
        ns = self.jct_of(self.make(self.workload("a -1 0 NONE 0 0 NONE 0 200000 NONE 0 0", "b -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000 7000")), 8)
        self.assertEqual(ns, max(200000, ring + 7000))
        ns = self.jct_of(self.make(self.workload("a -1 0 NONE 0 0 NONE 0 9000 NONE 0 0", "b -1 0 NONE 0 0 ALLREDUCE 1000000 0 NONE 0 0"), "ranks=4"), 4)
        self.assertEqual(ns, 9000 + self.jct("ranks = 1-2\ncollective = all_reduce\nbytes = 1MB\n"))

    def test_a_job_runs_on_rails_with_messages_through_other_ranks(self):
        (self.folder / "j.goal").write_text(self.make(self.workload("a -1 0 ALLTOALL_EP 4000000 0 NONE 0 0 ALLTOALL 4000000 0")), encoding="utf-8")
        rails = FABRIC.replace("star\n", "rail_only\nnics_per_server = 4\n")
        self.assertGreater(self.jct("goal = j.goal\n", rails), 0)

    def test_layers_run_again_from_a_checkpoint(self):
        head = self.HEAD.replace("checkpoints: 0 checkpoint_initiates: 0", "checkpoints: 1 0 checkpoint_initiates: 1 2")
        goal = self.make(self.workload(*(f"x -1 {ns} NONE 0 1 NONE 0 0 NONE 0 0" for ns in (100, 200, 300)), head=head))
        self.assertEqual(re.findall(r"calc (\d+)", goal.partition("rank 1 {")[0]), ["100", "200", "300", "100", "200", "1", "1", "1"])
        self.refuses("layer 2: expected a layer of checkpoints", self.workload(*["x -1 1 NONE 0 1 NONE 0 0 NONE 0 0"] * 3, head=head.replace("checkpoints: 1 0", "checkpoints: 0")))

    def test_a_benchmark_is_of_all_ranks(self):
        path = self.workload("m -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 400000 0", "m -1 0 NONE 0 0 NONE 0 0 ALLTOALL 400000 0", head="MICRO")
        self.refuses("expected all_gpus: N in the first line, or --set ranks=N", path)
        self.assertEqual(self.jct_of(self.make(path, "ranks=4"), 4), self.jct("ranks = 1-4\nstages = all_reduce 400000B, all_to_all 400000B\n"))
        self.assertIn("send 1000b", self.make(path, "ranks=4", "comm_scale=0.01"))

    def test_a_stage_of_a_pipeline_stands_for_all(self):
        goal = self.make(self.workload("a -1 1 NONE 0 0 NONE 0 0 NONE 0 0", head=self.HEAD.replace("pp: 1", "pp: 2") + " pp_comm 4096"))
        self.assertIn("num_ranks 4\n", goal)
        self.assertIn("pp: 2: the job has the 4 ranks of a stage", self.log.lost[0])

    def test_an_example_is_taken(self):
        goal = self.make(FIXTURES / "simai-workload.txt")
        self.assertEqual((self.log.lost, self.log.notes), ([], []))
        self.assertIn("num_ranks 4\n", goal)

    def test_bad_workloads_are_refused_in_a_line(self):
        good = "a -1 1 NONE 0 0 NONE 0 0 NONE 0 0"
        self.refuses("in:3: a -1 1 NONE 0 0 NONE 0 0 NONE 0 0 5: expected 12 words", self.workload(good + " 5"))
        for old, new, words in (("1 NONE", "x NONE", "in:3: x: expected nanoseconds from 0"), ("NONE 0", "ALLTOALL_TP 0", "in:3: ALLTOALL_TP: expected NONE, or one of ALLREDUCE"),
                                ("NONE 0", "ALLREDUCE -1", "in:3: -1: expected bytes from 0"), ("NONE 0", "ALLREDUCE nan", "in:3: nan: expected bytes")):
            self.refuses(words, self.workload(good.replace(old, new, 1)))
        self.refuses("in:2: 1 layers: expected as many lines below, not 0", self.workload(""))
        self.refuses("in:1: DATA: expected HYBRID_TRANSFORMER_FWD_IN_BCKWD", self.workload(good, head="DATA"))
        self.refuses("in:1: 6 ranks: expected a multiple of 4", self.workload(good), "ranks=6")
        self.refuses("in:1: : expected ep: a number from 1", self.workload(good, head="MICRO ep:"))
        (self.folder / "w.txt").write_text("", encoding="utf-8")
        self.refuses("expected a workload of SimAI", self.folder / "w.txt")


class Nccl(Case):
    DIALECT = "nccl"

    def graph(self, *orders, crossnic=0, n=None, pattern=4):
        path = self.folder / "graph.xml"
        gpus = ["".join(f'<gpu dev="{dev}" rank="{dev}"/>' for dev in order) for order in orders]
        channels = "".join(f'<channel><net dev="0"/>{each}<net dev="0"/></channel>' for each in gpus)
        path.write_text(f'<graphs version="1"><graph id="1" pattern="1" nchannels="0"/><graph id="0" pattern="{pattern}" crossnic="{crossnic}" '
                        f'nchannels="{len(orders) if n is None else n}">{channels}</graph></graphs>', encoding="utf-8")
        return path

    def peers(self, goal, n_ranks):
        """To whom each rank sends, by rank."""
        parts = goal.split("\nrank ")[1:]
        self.assertEqual(len(parts), n_ranks)
        return [sorted({int(peer) for peer in re.findall(r"send \d+b to (\d+)", part)}) for part in parts]

    def test_each_channel_is_a_ring_of_its_order(self):
        self.assertEqual(self.peers(self.make(self.graph([0, 1, 2, 3], [0, 3, 2, 1])), 4), [[1, 3], [0, 2], [1, 3], [0, 2]])
        self.assertEqual(self.peers(self.make(self.graph([4, 0, 2]), "nodes=2"), 6), [[1], [5], [0], [4], [2], [3]])

    def test_odd_nodes_exchange_channels_if_rails_would_cross(self):
        path = self.graph([0, 1], [1, 0], crossnic=2)
        rings = [[0, 1, 3, 2], [1, 0, 2, 3]]
        wanted = [sorted({ring[(ring.index(rank) + 1) % 4] for ring in rings}) for rank in range(4)]
        self.assertEqual(self.peers(self.make(path, "nodes=2"), 4), wanted)

    def test_a_ring_takes_as_long_as_that_of_a_job_section(self):
        self.assertEqual(self.jct_of(self.make(self.graph([2, 0, 3, 1]), "bytes=4000000", "collective=all_gather"), 4), self.jct("ranks = 1-4\ncollective = all_gather\nbytes = 4MB\n"))

    def test_a_job_that_is_too_large_is_refused_before_it_is_made(self):
        path = self.graph(range(8), range(8))
        self.refuses("--set nodes=8193: expected a whole number from 1 to 8192", path, "nodes=8193")
        # 4 n (n - 1) operations in each channel.
        self.refuses("in: all_reduce of 4096 ranks has 134184960 operations in 2 channels: expected at most 1000000 operations of a rank, and 10000000 of all", path, "nodes=512")
        self.refuses("in: all_gather of 4096 ranks has 67092480 operations in 2 channels", path, "nodes=512", "collective=all_gather")

    def test_a_job_that_turns_out_too_large_is_refused_while_it_is_made(self):
        path = self.graph(range(8))
        most, goal.MOST_OPS_OF_ALL = goal.MOST_OPS_OF_ALL, 300
        self.addCleanup(setattr, goal, "MOST_OPS_OF_ALL", most)
        self.assertEqual(len(self.peers(self.make(path), 8)), 8)  # 224 operations
        self.refuses("in: expected at most 1000000 operations of a rank, and 300 of all: fewer ranks", path, "chunk_bytes=4000000")

    def test_bad_graphs_are_refused_in_a_line(self):
        self.refuses("nchannels = 2: expected 1 to 64, the number of its <channel>, not 1", self.graph([0, 1], n=2))
        self.refuses("expected two GPUs or more: --set nodes=N", self.graph([0]))
        self.refuses("channel 1: expected each GPU of channel 0 once, not 0 0", self.graph([0, 1], [0, 0]))
        self.refuses("channel 0: expected 1 to 1024 times", self.graph(["x", 1]))
        self.refuses('expected <graphs> with a ring: <graph pattern="4">', self.graph([0, 1], pattern=1))
        self.refuses("--set collective=all_to_all: expected one of all_reduce", self.graph([0, 1]), "collective=all_to_all")
        path = self.folder / "graph.xml"
        for text, words in (("<graphs", "expected XML, as NCCL_GRAPH_DUMP_FILE has it"), ("", "expected XML"), ("<system/>", "expected <graphs> with a ring"),
                            ('<!DOCTYPE a [<!ENTITY b "c">]><graphs/>', "without DOCTYPE")):
            path.write_text(text, encoding="utf-8")
            self.refuses(words, path)


if __name__ == "__main__":
    unittest.main()
