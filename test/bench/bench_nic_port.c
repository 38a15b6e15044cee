/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one lcore of a NIC node sends through a port (nic_load.h), beside what dpdk-testpmd's
 * flowgen sends through the same one: net_null takes every frame at once, so both are bound by the
 * CPU. What counts is the best interval of each, by the CPU time of its thread: what else the
 * machine does only takes away.
 *
 * bench_nic_port N: N QPs alone, for a profiler; bench_nic_port N uncapped: without a rate cap.
 */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "bench.h"
#include "nic_load.h"

#define PEER_SECONDS (bench_is_smoke() ? 1 : 5)
#define PEER_AT_MOST_SECONDS 60 /* with its start, on a loaded machine */
#define INTERVALS 8u
#define INTERVAL_NS (150 * NS_PER_MS)
#define MOST_QPS (1000u * 1000u)
#define SMOKE_MOST_QPS (100u * 1000u)

static const char *eal_memory; /* what scripts/bench found out */

/* CPU time of the thread of a process that has most: the one that polls. */
static double
poller_ns(int pid)
{
	char path[300];
	double most = 0, ns;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", pid, entry->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fscanf(file, "%lf", &ns) == 1 && ns > most)
			most = ns;
		fclose(file);
	}
	if (dir != NULL)
		closedir(dir);
	return most;
}

/*
 * What the peer sends in a second of the CPU time of its polling thread; 0 when it does not run
 * here. It prints its count once a second, a moment before the time is looked at: over seconds that
 * is no matter.
 */
static double
peer_pps(void)
{
	char command[512], line[256];
	double first_packets = 0, first_ns = 0, packets = 0, ns = 0;
	int pid = 0, seconds = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "exec timeout -s INT %d sh -c 'echo PID $$; exec dpdk-testpmd -l 0,1 --no-pci "
		 "--no-telemetry --no-shconf -m 256 %s --log-level=error %s -- "
		 "--forward-mode=flowgen --txpkts=%u --nb-cores=1 --stats-period=1 --auto-start "
		 "--total-num-mbufs=8192' 2>/dev/null",
		 PEER_AT_MOST_SECONDS, eal_memory, NIC_LOAD_DEVICE, NIC_LOAD_MTU + 58);
	out = popen(command, "r");
	if (out == NULL)
		return 0;
	while (fgets(line, sizeof(line), out) != NULL) {
		const char *at = strstr(line, "TX-packets:");
		double now_ns;

		sscanf(line, "PID %d", &pid);
		/* What it prints when it ends has no time. */
		if (at == NULL || (now_ns = poller_ns(pid)) <= ns)
			continue;
		packets = strtod(at + 11, NULL);
		ns = now_ns;
		if (first_ns == 0) {
			first_packets = packets;
			first_ns = ns;
		} else if (++seconds == PEER_SECONDS) {
			kill(pid, SIGINT);
		}
	}
	pclose(out);
	return ns > first_ns ? (packets - first_packets) * 1e9 / (ns - first_ns) : 0;
}

static void
eal_start(void)
{
	static char words[][40] = {"bench_nic_port",
				   "--no-shconf",
				   "--no-pci",
				   "--no-telemetry",
				   "-l",
				   "1",
				   "-m",
				   "256",
				   "--log-level=error",
				   NIC_LOAD_DEVICE};
	char memory[16];
	char *argv[16] = {0};
	int argc = ARRAY_LEN(words);

	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	snprintf(memory, sizeof(memory), "%s", eal_memory);
	if (memory[0] != '\0')
		argv[argc++] = memory;
	bench_check(rte_eal_init(argc, argv) >= 0, "EAL start-up");
}

/* Send for an interval; not inline, so that a profiler finds it. @return frames sent by second of
 * CPU time. */
static __attribute__((noinline)) double
send_interval(struct node *node, uint64_t *now_ns)
{
	double start_ns = bench_clock_ns();
	uint64_t sent = 0;

	do {
		/* Looking at the real clock is no part of it. */
		uint64_t n = nic_load_polls(node, 0, 1, now_ns);

		sent += n;
		/* A QP alone soon comes to the end of its window. */
		if (n == 0)
			break;
	} while (bench_clock_ns() - start_ns < INTERVAL_NS);
	return (double)sent * 1e9 / (bench_clock_ns() - start_ns);
}

/* @param peer  Packets a second; 0: it did not run. */
static void
print(const char *name, double mpps, double peer)
{
	bench_print(name, mpps, "Mpps", peer > 0 ? "testpmd flowgen" : NULL, peer / 1e6);
}

/* What no sender through this pool and this device can pass: mbufs out of one, into the other. */
static void
bench_device(struct rte_mempool *pool, double peer)
{
	struct rte_mbuf *pkts[NIC_LOAD_BURST];
	double best = 0;

	for (unsigned int i = 0; i < bench_rounds(INTERVALS); i++) {
		double start_ns = bench_clock_ns();
		const unsigned int bursts = 100000;

		for (unsigned int n = 0; n < bursts; n++) {
			bench_check(rte_mempool_get_bulk(pool, (void **)pkts, NIC_LOAD_BURST) ==
						    0 &&
					    rte_eth_tx_burst(0, 0, pkts, NIC_LOAD_BURST) ==
						    NIC_LOAD_BURST,
				    "the port takes all frames");
		}
		best = RTE_MAX(best, bursts * NIC_LOAD_BURST * 1e9 / (bench_clock_ns() - start_ns));
	}
	print("mbufs to net_null, nothing written", best / 1e6, peer);
}

static double
resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	bench_check(file != NULL && fscanf(file, "%*d %ld", &pages) == 1, "/proc/self/statm");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double
bench(const struct nic_pools *pools, uint32_t qps, bool is_capped, double peer)
{
	double best = 0, before = resident_bytes(), per_qp;
	struct nic_params params;
	struct node *node;
	uint64_t now_ns = 0;
	char name[80];

	nic_load_params(&params, qps);
	if (!is_capped)
		nic_load_uncap(&params, qps);
	node = nic_create(&params, pools);
	bench_check(node != NULL, "nic_create");
	nic_load_add_qps(node, qps, 0, 1, is_capped ? nic_load_rate_bps(qps) : 0);
	for (unsigned int i = 0; i < bench_rounds(INTERVALS); i++) {
		double pps = send_interval(node, &now_ns);

		if (pps > best)
			best = pps;
	}
	per_qp = (resident_bytes() - before) / qps;
	nic_destroy(node);
	/* Of fewer, what a NIC has once would count. */
	if (qps > 64 * 1024 && is_capped) {
		snprintf(name, sizeof(name), "nic memory, %" PRIu32 " QPs that send", qps);
		bench_print(name, per_qp, "bytes/QP", NULL, 0);
	}
	snprintf(name, sizeof(name), "nic to net_null, MTU %u, %" PRIu32 " QP%s %s", NIC_LOAD_MTU,
		 qps, qps == 1 ? "" : "s", is_capped ? "limited" : "uncapped");
	print(name, best / 1e6, peer);
	return 1e9 / best;
}

int
main(int argc, char **argv)
{
	const uint32_t qps[] = {1, 1000, 64 * 1024, bench_is_smoke() ? SMOKE_MOST_QPS : MOST_QPS};
	struct nic_pools pools = {0};
	double peer, ns[4];

	eal_memory = getenv("QUENCH_BENCH_EAL");
	if (eal_memory == NULL)
		eal_memory = "--no-huge";
	peer = argc > 1 ? 0 : peer_pps();
	if (peer == 0 && argc == 1) {
		fprintf(stderr,
			"bench_nic_port: dpdk-testpmd does not run: nothing to compare with\n");
		return BENCH_SKIPPED;
	}
	eal_start();
	nic_load_start_port(1);
	nic_set_up_pools(&pools, 4096, NIC_LOAD_MTU, 512);
	if (argc > 1) {
		bench(&pools, (uint32_t)strtoul(argv[1], NULL, 10),
		      argc == 2 || strcmp(argv[2], "uncapped") != 0, 0);
		return EXIT_SUCCESS;
	}
	bench_device(pools.data, peer);
	for (unsigned int i = 0; i < 4; i++)
		ns[i] = bench(&pools, qps[i], true, peer);
	bench_print("nic to net_null, cost growth 1000 to 64 K QPs", ns[2] / ns[1], "times", NULL,
		    0);
	/* Events of one QP are too rare to count. */
	for (unsigned int i = 1; i < 4; i++)
		bench(&pools, qps[i], false, peer);
	nic_set_up_pools_free(&pools);
	return EXIT_SUCCESS;
}
