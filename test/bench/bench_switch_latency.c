/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a forwarder adds to a frame that finds nothing in its way: quench-switch beside dpdk-testpmd
 * macswap, over two memif ports, one polling lcore each.
 *
 * This program is the server of both memif sockets. It sends a frame of 1082 bytes into one port
 * every 20 to 30 us, polls the other until it comes out, and puts the time into a histogram.
 * Forwarders take turns; the best turn counts, as what others do on the two cores only adds.
 */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/sets/hist.h"
#include "base/numbers/prng.h"
#include "bench.h"
#include "plain_loop.h"

#define TURNS 5u
#define FRAMES 20000u
#define SMOKE_FRAMES 100u
#define WARM_UP 1000u
#define FRAME_BYTES 1082u
#define LINK_WAIT_MS 20000

static const char config[] =
	"[switch]\nbuffer_bytes = 1MB\n[buffer_profile lossless]\nxoff_bytes = 100KB\n"
	"[port]\nlink_speed_bps = 100G\n[port 0]\n[port 1]\n";
static char folder[] = "/tmp/bench-latency-XXXXXX";
static struct rte_mempool *pool;
static pid_t child;

struct forwarder {
	const char *name;
	const char *command; /* the folder for %1$s, a free name for %2$s */
};

static const struct forwarder ours = {
	"quench-switch",
	"exec " QUENCH_BUILD
	"/app/quench-switch/quench-switch -l 0,1 -m 64 --no-pci --no-huge --no-shconf --no-telemetry "
	"--log-level=4 --file-prefix %2$s "
	"--vdev net_memif0,role=client,id=0,socket=%1$s/m.sock,socket-abstract=no "
	"--vdev net_memif1,role=client,id=1,socket=%1$s/m.sock,socket-abstract=no "
	"-- --config %1$s/switch.ini --stats-interval 0 >/dev/null 2>&1",
};
static const struct forwarder peer = {
	"testpmd macswap",
	"exec dpdk-testpmd -l 0,1 -m 64 --no-pci --no-huge --no-shconf --no-telemetry "
	"--log-level=4 --file-prefix %2$s "
	"--vdev net_memif0,role=client,id=0,socket=%1$s/m.sock,socket-abstract=no "
	"--vdev net_memif1,role=client,id=1,socket=%1$s/m.sock,socket-abstract=no "
	"-- --forward-mode=macswap --stats-period=60 --total-num-mbufs=8192 >/dev/null 2>&1 "
	"</dev/null",
};

/* What a turn found, in us. */
enum { P50, P99, FIGURES };

static void
leave(void)
{
	char path[PATH_MAX];

	if (child > 0)
		kill(child, SIGKILL);
	for (const char *const *name = (const char *const[]){"m.sock", "switch.ini", NULL};
	     *name != NULL; name++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *name);
		unlink(path);
	}
	rmdir(folder);
}

static void
write_config(void)
{
	char path[PATH_MAX];
	FILE *f;

	bench_check(mkdtemp(folder) != NULL, "making a folder");
	atexit(leave);
	snprintf(path, sizeof(path), "%s/switch.ini", folder);
	f = fopen(path, "w");
	bench_check(f != NULL && fputs(config, f) >= 0 && fclose(f) == 0,
		    "writing the configuration");
}

static void
start_eal(void)
{
	static char words[10][PATH_MAX] = {"bench", "-l", "0", "-m", "64", "--no-pci"};
	char *argv[18];
	int argc = 0;

	/* Frames are copied into memif's regions: what lies where is no matter. */
	for (int i = 0; words[i][0] != '\0'; i++)
		argv[argc++] = words[i];
	for (int i = 0; i < 2; i++) {
		snprintf(words[6 + i], sizeof(words[0]),
			 "--vdev=net_memif%d,role=server,id=%d,socket=%s/m.sock,socket-abstract=no",
			 i, i, folder);
		argv[argc++] = words[6 + i];
	}
	argv[argc++] = (char *)(uintptr_t) "--no-huge";
	argv[argc++] = (char *)(uintptr_t) "--no-shconf";
	argv[argc++] = (char *)(uintptr_t) "--no-telemetry";
	argv[argc++] = (char *)(uintptr_t) "--log-level=4";
	bench_check(rte_eal_init(argc, argv) >= 0, "EAL start-up");
}

static void
start_ports(void)
{
	struct rte_eth_conf conf = {0};

	pool = rte_pktmbuf_pool_create("pool", 4095, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	bench_check(pool != NULL, "making a pool");
	for (uint16_t port = 0; port < 2; port++)
		bench_check(
			rte_eth_dev_configure(port, 1, 1, &conf) == 0 &&
				rte_eth_rx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL, pool) ==
					0 &&
				rte_eth_tx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL) == 0 &&
				rte_eth_dev_start(port) == 0,
			"starting the ports");
}

static bool
links_are(bool up)
{
	for (uint16_t port = 0; port < 2; port++) {
		struct rte_eth_link link;

		if (rte_eth_link_get_nowait(port, &link) != 0 ||
		    (link.link_status == RTE_ETH_LINK_UP) != up)
			return false;
	}
	return true;
}

static void
wait_for_links(const struct forwarder *f, bool up)
{
	for (unsigned int ms = 0; ms < LINK_WAIT_MS; ms++) {
		if (links_are(up))
			return;
		rte_delay_us_sleep(1000);
	}
	fprintf(stderr, "bench_switch_latency: %s does not %s\n", f->name, up ? "start" : "end");
	exit(EXIT_FAILURE);
}

static void
start_forwarder(const struct forwarder *f)
{
	char name[32], command[4 * PATH_MAX];

	snprintf(name, sizeof(name), "benchlat%d", (int)getpid());
	snprintf(command, sizeof(command), f->command, folder, name);
	child = fork();
	bench_check(child >= 0, "starting a forwarder");
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait_for_links(f, true);
}

static void
stop_forwarder(const struct forwarder *f)
{
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	child = 0;
	wait_for_links(f, false);
}

/* A frame from the station behind one port to the one behind the other. */
static bool
send_frame(uint16_t port, uint32_t number)
{
	struct rte_ether_addr *mac;
	struct rte_mbuf *m;

	plain_generate(pool, &m, 1, FRAME_BYTES);
	mac = rte_pktmbuf_mtod(m, struct rte_ether_addr *);
	if (port == 1) {
		struct rte_ether_addr swapped[2] = {mac[1], mac[0]};

		memcpy(mac, swapped, sizeof(swapped));
	}
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, FRAME_BYTES - sizeof(number)), &number,
	       sizeof(number));
	if (rte_eth_tx_burst(port, 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* Until the frame with this number comes out of a port. @return its time, or 0 when it does not. */
static uint64_t
await_frame(uint16_t port, uint32_t number, uint64_t give_up_tsc)
{
	for (;;) {
		struct rte_mbuf *m;
		uint64_t now_tsc;
		uint32_t seen;

		if (rte_eth_rx_burst(port, 0, &m, 1) == 0) {
			if (rte_rdtsc() > give_up_tsc)
				return 0;
			continue;
		}
		now_tsc = rte_rdtsc();
		memcpy(&seen, rte_pktmbuf_mtod_offset(m, uint8_t *, FRAME_BYTES - sizeof(seen)),
		       sizeof(seen));
		rte_pktmbuf_free(m);
		if (seen == number)
			return now_tsc;
	}
}

/* Each port's station speaks until the other hears it: addresses are learnt, the forwarder is at
 * work. */
static void
introduce(const struct forwarder *f)
{
	for (unsigned int i = 0; i < 200; i++) {
		bool heard = true;

		for (uint16_t port = 0; port < 2; port++) {
			send_frame(port, i);
			heard = await_frame(1 - port, i, rte_rdtsc() + rte_get_tsc_hz() / 20) !=
					0 &&
				heard;
		}
		if (heard)
			return;
	}
	fprintf(stderr, "bench_switch_latency: %s forwards nothing\n", f->name);
	exit(EXIT_FAILURE);
}

static void
measure(const struct forwarder *f, double *figures)
{
	uint32_t frames = WARM_UP + (bench_is_smoke() ? SMOKE_FRAMES : FRAMES);
	static struct hist hist;
	double us = (double)rte_get_tsc_hz() / 1e6;
	struct prng prng;

	prng_seed(&prng, 1, 0);
	memset(&hist, 0, sizeof(hist));
	start_forwarder(f);
	introduce(f);
	for (uint32_t i = 0; i < frames; i++) {
		uint64_t start_tsc = rte_rdtsc(), end_tsc;

		bench_check(send_frame(0, i), "sending a frame");
		end_tsc = await_frame(1, i, start_tsc + rte_get_tsc_hz());
		bench_check(end_tsc != 0, "a frame in a second: it waits for another");
		if (i >= WARM_UP)
			hist_add(&hist, end_tsc - start_tsc, 1);
		rte_delay_us_block(20 + (unsigned int)prng_below(&prng, 10));
	}
	stop_forwarder(f);
	figures[P50] = (double)hist_quantile(&hist, 50) / us;
	figures[P99] = (double)hist_quantile(&hist, 99) / us;
}

static double
least(double turns[][FIGURES], unsigned int n, int figure)
{
	double best = turns[0][figure];

	for (unsigned int i = 1; i < n; i++)
		best = turns[i][figure] < best ? turns[i][figure] : best;
	return best;
}

int
main(void)
{
	static const char *const names[FIGURES] = {"p50", "p99"};
	double a[TURNS][FIGURES], b[TURNS][FIGURES];
	unsigned int turns = bench_rounds(TURNS);

	if (system("command -v dpdk-testpmd >/dev/null") != 0) {
		fputs("bench_switch_latency: dpdk-testpmd is not installed (scripts/install-deps "
		      "bench)\n",
		      stderr);
		return BENCH_SKIPPED;
	}
	write_config();
	start_eal();
	start_ports();
	for (unsigned int i = 0; i < turns; i++) {
		measure(&peer, b[i]);
		measure(&ours, a[i]);
	}
	for (int f = 0; f < FIGURES; f++) {
		char name[80];

		snprintf(name, sizeof(name),
			 "latency through 2 memif ports at light load, 1082 B, %s", names[f]);
		bench_print(name, least(a, turns, f), "us", peer.name, least(b, turns, f));
	}
	return 0;
}
