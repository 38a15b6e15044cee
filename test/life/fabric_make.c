/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random fabric: a scenario that quench-lab accepts. What it refuses is left out again, so the
 * values may be anything. Chance is drawn in statements of their own: C leaves the order within one
 * open.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"
#include "fabric_life.h"
#include "quench-lab/scenario/scenario_file.h"

#define MOST_LINES 80
#define LINE_CHARS 800
#define MOST_FLOWS 4
/* After all flows were stopped. */
#define LAST_NS (200 * NS_PER_US)

struct draft {
	char text[MOST_LINES][LINE_CHARS];
	char *line[MOST_LINES];
	unsigned int n;
	unsigned int hosts;
	const char *shape;
	unsigned int ends; /* number of a flow that has a last message; 0: none */
	bool gentle;       /* nothing is to be lost */
	uint64_t chaos_ns; /* what happens is over by then */
	struct prng *r;
};

__attribute__((format(printf, 2, 3))) static void
add(struct draft *d, const char *format, ...)
{
	va_list args;

	if (d->n == MOST_LINES)
		return;
	va_start(args, format);
	vsnprintf(d->text[d->n], LINE_CHARS, format, args);
	va_end(args);
	d->line[d->n] = d->text[d->n];
	d->n++;
}

/* More words for the last line. */
__attribute__((format(printf, 2, 3))) static void
also(struct draft *d, const char *format, ...)
{
	char *line = d->text[d->n - 1];
	size_t n = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + n, LINE_CHARS - n, format, args);
	va_end(args);
}

static void
drop(struct draft *d, unsigned int index)
{
	for (unsigned int i = index; i + 1 < d->n; i++)
		memcpy(d->text[i], d->text[i + 1], LINE_CHARS);
	d->n--;
}

/* ---- what it is made of ---- */

static uint64_t
one_of(struct draft *d, const uint64_t *from, unsigned int n)
{
	return from[any(d->r, 0, n - 1)];
}
#define ONE_OF(d, ...)                                                                             \
	one_of(d, (const uint64_t[]){__VA_ARGS__},                                                 \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static const char *
word_of(struct draft *d, const char *const *words)
{
	unsigned int n = 0;

	while (words[n] != NULL)
		n++;
	return words[any(d->r, 0, n - 1)];
}
#define WORD_OF(d, ...) word_of(d, (const char *const[]){__VA_ARGS__, NULL})

static void
make_fabric(struct draft *d)
{
	uint64_t rate = ONE_OF(d, 10, 10, 10, 25, 40), delay = ONE_OF(d, 0, 100, 1000, 1000, 5000);
	uint64_t chaos = any(d->r, 300, 2500), sample = any(d->r, 20, 150);
	uint64_t seed = any(d->r, 0, 1000000);
	bool rails;

	d->shape = WORD_OF(d, "star", "star", "dumbbell", "parking_lot", "leaf_spine", "leaf_spine",
			   "graph", "rail_optimized");
	rails = strcmp(d->shape, "rail_optimized") == 0;
	d->hosts = rails ? 4 : (unsigned int)any(d->r, 2, 4);
	d->chaos_ns = chaos * NS_PER_US;
	add(d, "fabric topology=%s hosts=%u link_rate_bps=%" PRIu64 "G link_delay_ns=%" PRIu64,
	    d->shape, d->hosts, rate, delay);
	also(d, " sample_ns=%" PRIu64 "us seed=%" PRIu64, sample, seed);
	if (strcmp(d->shape, "leaf_spine") == 0) {
		uint64_t spines = any(d->r, 1, 2);

		also(d, " leaves=2 spines=%" PRIu64, spines);
	} else if (rails) {
		also(d, " groups=1 spines=1");
	}
	if (strcmp(d->shape, "star") != 0 && chance(d->r, 40)) {
		uint64_t core = ONE_OF(d, 10, 25, 40), core_delay = ONE_OF(d, 0, 500, 10000);

		also(d, " core_rate_bps=%" PRIu64 "G core_delay_ns=%" PRIu64, core, core_delay);
	}
	if (strcmp(d->shape, "star") != 0 && strcmp(d->shape, "leaf_spine") != 0 && !rails &&
	    strcmp(d->shape, "graph") != 0 && chance(d->r, 50))
		also(d, " forwarding=l2");
	else if (strcmp(d->shape, "star") != 0 && chance(d->r, 40)) {
		uint64_t after = any_size(d->r, 1, 300000);

		also(d, " reroute_after_ns=%" PRIu64, after);
	}
	if (chance(d->r, 20))
		also(d, " ecmp_seed_by_stage=off");
	if (chance(d->r, 15))
		also(d, " slow_hosts=%u", d->hosts);
	if (rails || (d->hosts % 2 == 0 && chance(d->r, 25))) {
		uint64_t inside = any_size(d->r, 1, 4000), inside_delay = any_size(d->r, 0, 5000);

		also(d, " nics_per_server=2 server_rate_bps=%" PRIu64 "G server_delay_ns=%" PRIu64,
		     inside, inside_delay);
	}
}

/* Two or three in a ring, perhaps with two cables somewhere. */
static void
make_graph(struct draft *d)
{
	unsigned int switches = (unsigned int)any(d->r, 2, 3), left = d->hosts;

	for (unsigned int i = 0; i < switches; i++) {
		unsigned int n = i + 1 == switches ? left : (unsigned int)any(d->r, 0, left);

		add(d, "switch+r%u hosts=%u", i + 1, n);
		left -= n;
	}
	for (unsigned int i = 0; i < switches; i++)
		add(d, "link+l%u ends=r%u+r%u", i + 1, i + 1, (i + 1) % switches + 1);
	if (chance(d->r, 30))
		add(d, "link+twin ends=r1+r2");
}

static void
make_vlans(struct draft *d)
{
	bool two = d->hosts > 2 && chance(d->r, 60);

	if (strcmp(d->shape, "star") != 0 || !chance(d->r, 25))
		return;
	add(d, "link+ten ends=h1-h%u+s1 access_vlan=10", two ? 2 : d->hosts);
	if (two)
		add(d, "link+twenty ends=h3-h%u+s1 access_vlan=20", d->hosts);
	also(d, "%s", chance(d->r, 30) ? " tagged_vlans=30" : "");
	for (unsigned int i = 0; i < d->n; i++)
		if (strncmp(d->text[i], "switch ", 7) == 0)
			strcat(d->text[i], " vlan_filtering=on");
	if (two && chance(d->r, 80)) {
		add(d, "router router_mac=02:5a:00:00:00:fe");
		add(d, "interface+vlan+10 ip=10.0.10.1/24");
		add(d, "interface+vlan+20 ip=10.0.20.1/24");
	}
}

static void
make_switch(struct draft *d)
{
	uint64_t buffer = any_size(d->r, 200000, 1500000);
	bool generates = d->gentle || chance(d->r, 85);

	add(d, "switch buffer_bytes=%" PRIu64 " pfc_generate=%s mark_at=%s", buffer,
	    generates ? "on" : "off", WORD_OF(d, "dequeue", "dequeue", "enqueue"));
	if (!d->gentle && chance(d->r, 15))
		also(d, " cell_bytes=208");
	if (chance(d->r, 60)) {
		uint64_t low = any_size(d->r, 0, 50000), more = any_size(d->r, 0, 200000);
		uint64_t pct = any(d->r, 1, 100);

		add(d, "wred Kmin=%" PRIu64 " Kmax=%" PRIu64 " Pmax=%" PRIu64 "%%", low, low + more,
		    pct);
	}
	if (d->gentle) {
		add(d, "buffer_profile+lossless xoff_bytes=60000");
	} else if (chance(d->r, 60)) {
		uint64_t xoff = any_size(d->r, 1000, 60000);
		int th = (int)any(d->r, 0, 8) - 5;

		add(d, "buffer_profile+lossless xoff_bytes=%" PRIu64 " dynamic_th=%d", xoff, th);
	}
	if (!d->gentle) {
		uint64_t quanta = any_size(d->r, 100, 65535), pct = any(d->r, 10, 90);

		add(d, "pfc pfc_xoff_quanta=%" PRIu64 " pfc_refresh_pct=%" PRIu64, quanta, pct);
	}
	if (!d->gentle && chance(d->r, 15)) {
		uint64_t detect = any_size(d->r, 1000, 500000), poll = any_size(d->r, 1000, 200000);
		uint64_t restore = any_size(d->r, 1000, 500000);

		add(d,
		    "pfcwd pfcwd=sonic action=%s detection_time_ns=%" PRIu64
		    " poll_interval_ns=%" PRIu64 " restoration_time_ns=%" PRIu64,
		    WORD_OF(d, "drop", "forward", "alert"), detect, poll, restore);
	}
}

static void
make_nic(struct draft *d)
{
	uint64_t timeout = d->gentle ? 14 : ONE_OF(d, 5, 6, 7, 7, 7, 8, 14);
	uint64_t ack = any_size(d->r, 1, 32), window = any_size(d->r, 4, 4096);
	uint64_t retries = any(d->r, 1, 7), reads = any(d->r, 1, 16), timer = any(d->r, 1, 10);
	const char *cc = WORD_OF(d, "dcqcn", "dcqcn", "dcqcn", "dctcp", "timely", "none");
	const char *flow_control = WORD_OF(d, "pfc", "pfc", "pfc", "pfc", "pause", "off");

	add(d, "nic cc=%s flow_control=%s initial_rate=%s local_ack_timeout=%" PRIu64, cc,
	    d->gentle ? "pfc" : flow_control, WORD_OF(d, "line", "line", "fair"), timeout);
	also(d, " ack_every=%" PRIu64 " window_packets=%" PRIu64 " retry_cnt=%" PRIu64, ack, window,
	     retries);
	also(d, " max_rd_atomic=%" PRIu64 " min_rnr_timer=%" PRIu64, reads, timer);
	if (chance(d->r, 20))
		also(d, " measure_pacing=on");
	add(d, "rp rp_profile=%s rp_min_rate_bps=500M", WORD_OF(d, "paper", "paper", "mlx"));
	add(d, "dctcp dctcp_min_rate_bps=500M");
	add(d, "timely timely_min_rate_bps=500M");
	if (chance(d->r, 50)) {
		uint64_t between = any_size(d->r, 0, 60);

		add(d, "np np_min_time_between_cnps_us=%" PRIu64 " np_cnp_moderation=%s", between,
		    WORD_OF(d, "qp", "ip_pair", "port"));
	}
	/* Its limits are also those of the event slow_receiver. */
	add(d, "receiver xoff_bytes=60000 xon_bytes=30000 buffer_bytes=%u",
	    d->gentle || chance(d->r, 70) ? 200000 : 70000);
	if (chance(d->r, 15)) {
		uint64_t drain = any(d->r, 2, 9);

		also(d, " drain_rate_bps=%" PRIu64 "G", drain);
	}
}

/* ---- flows ---- */

static void
make_arrival(struct draft *d, uint64_t bytes)
{
	switch (any(d->r, 0, 9)) {
	case 0:
	case 1:
	case 2: {
		uint64_t load = any_size(d->r, 100, 12000);

		also(d, " arrival=%s load_bps=%" PRIu64 "M", WORD_OF(d, "poisson", "periodic"),
		     load);
		return;
	}
	case 3: {
		uint64_t on = any_size(d->r, 1000, 200000), off = any_size(d->r, 1000, 200000);

		also(d, " arrival=on_off on_ns=%" PRIu64 " off_ns=%" PRIu64, on, off);
		break;
	}
	case 4:
		also(d, " arrival=incast");
		return;
	default:
		break;
	}
	if (chance(d->r, 70)) {
		uint64_t depth = any_size(d->r, 1, bytes < 1000 ? 64 : 8);

		also(d, " depth=%" PRIu64, depth);
	}
}

static void
make_ends(struct draft *d)
{
	unsigned int dst = (unsigned int)any(d->r, 1, d->hosts);
	unsigned int src = (unsigned int)any(d->r, 1, d->hosts - 1);

	src += src >= dst;
	if (chance(d->r, 25)) {
		also(d, " pattern=%s", WORD_OF(d, "permutation", "all_to_all", "ring"));
		return;
	}
	/* An incast where there is one to be had. */
	if (dst == d->hosts && d->hosts > 2 && chance(d->r, 70))
		also(d, " src=1-%u dst=%u", d->hosts - 1, dst);
	else
		also(d, " src=%u dst=%u", src, dst);
}

/* A collective of all hosts. Halving takes a power of two of them. */
static void
make_job(struct draft *d)
{
	uint64_t bytes = any_size(d->r, 20000, 2000000), chunk = any_size(d->r, 500, 100000);
	uint64_t channels = any(d->r, 1, 3), qps = any(d->r, 1, 3), iterations = any(d->r, 1, 50);
	bool power = (d->hosts & (d->hosts - 1)) == 0;
	const char *words = WORD_OF(
		d, "all_reduce algorithm=ring", "all_reduce algorithm=double_binary_tree",
		"reduce_scatter", "all_gather", "broadcast", "all_to_all algorithm=pairwise",
		"all_to_all algorithm=linear", "all_to_all algorithm=staggered", "pipeline");

	add(d,
	    "job+collective collective=%s bytes=%" PRIu64 " channels=%" PRIu64
	    " qps_per_pair=%" PRIu64,
	    power && chance(d->r, 25) ? "all_reduce algorithm=halving_doubling" : words, bytes,
	    channels, qps);
	also(d, " iterations=%" PRIu64, iterations);
	/* Two ranks share a NIC, or messages leave their rail. */
	if (strstr(d->text[0], "nics_per_server") != NULL) {
		if (chance(d->r, 30))
			also(d, " ranks_per_server=4");
		if (chance(d->r, 30))
			also(d, " pxn=off");
	}
	if (chance(d->r, 50))
		also(d, " chunk_bytes=%" PRIu64, chunk);
	if (chance(d->r, 50)) {
		uint64_t compute_ns = any_size(d->r, 1, 20000), ps = any(d->r, 0, 100);
		uint64_t jitter = any(d->r, 0, 100);

		also(d,
		     " compute_ns=%" PRIu64 " reduce_ps_per_byte=%" PRIu64
		     " compute_jitter=%" PRIu64 "%%",
		     compute_ns, ps, jitter);
	}
}

static void
make_flow(struct draft *d, unsigned int number)
{
	uint64_t bytes = any_size(d->r, 128, 200000), qps = any_size(d->r, 1, 4);
	uint64_t mtu = ONE_OF(d, 256, 1024, 1024, 1024, 2048, 4096), seed = any(d->r, 0, 1000);
	const char *verb = WORD_OF(d, "write", "write", "write_imm", "send", "send", "read", "read",
				   "ud_send");

	if (strcmp(verb, "ud_send") == 0)
		bytes = min_u64(bytes, mtu);
	if (chance(d->r, 8))
		bytes = any(d->r, 0, 127);
	add(d, "flow+f%u verb=%s", number, verb);
	make_ends(d);
	also(d,
	     " message_bytes=%" PRIu64 " qp_count=%" PRIu64 " mtu_bytes=%" PRIu64 " seed=%" PRIu64,
	     bytes, qps, mtu, seed);
	if (chance(d->r, 25)) {
		uint64_t least = any(d->r, 0, bytes);

		also(d, " message_size=uniform message_min_bytes=%" PRIu64, least);
	}
	make_arrival(d, bytes);
	if (chance(d->r, 30)) {
		uint64_t start = any(d->r, 0, d->chaos_ns);

		also(d, " start_ns=%" PRIu64, start);
	}
	if (chance(d->r, 15)) {
		uint64_t messages = any_size(d->r, 1, 500);

		also(d, " messages=%" PRIu64, messages);
		d->ends = number;
	} else if (d->ends > 0 && chance(d->r, 50)) {
		also(d, " after=f%u", d->ends);
	}
	if (strstr(d->text[d->n - 1], "load_bps") == NULL &&
	    strstr(d->text[d->n - 1], "on_ns") == NULL && chance(d->r, 25))
		also(d, " barrier=step");
	if (chance(d->r, 20)) {
		uint64_t cap = any(d->r, 200, 10000);

		also(d, " rate_cap_bps=%" PRIu64 "M", cap);
	}
	if (!d->gentle && chance(d->r, 20)) {
		uint64_t dscp = ONE_OF(d, 0, 10, 24, 26);

		also(d, " dscp=%" PRIu64, dscp);
	}
	if (chance(d->r, 15)) {
		uint64_t wr = any_size(d->r, 1, 64), post = any_size(d->r, 1, 20000);

		also(d, " max_recv_wr=%" PRIu64 " post_recv_ns=%" PRIu64, wr, post);
	}
	if (chance(d->r, 12))
		also(d, " stopped=on");
}

/* ---- what happens ---- */

static const char *
any_node(struct draft *d, const struct scenario *s, bool hosts, bool switches,
	 char text[TOPOLOGY_NODE_CHARS + 1], uint32_t *node)
{
	uint32_t first = switches ? 0 : s->topology->n_switches;
	uint32_t last = s->topology->n_switches + (hosts ? s->topology->n_hosts : 0) - 1;

	*node = (uint32_t)any(d->r, first, last);
	return topology_node_name(s->topology, *node, text);
}

static uint32_t
any_port(struct draft *d, const struct scenario *s, uint32_t node)
{
	if (!topology_is_switch(s->topology, node))
		return 0;
	return (uint32_t)any(d->r, 0, s->topology->switches[node].n_ports - 1);
}

/* "event NAME at_ns action node port", with an end in most cases. */
static void
begin_event(struct draft *d, const struct scenario *s, unsigned int number, const char *action,
	    bool hosts, bool switches, bool lasts)
{
	uint64_t at = any(d->r, 1, d->chaos_ns - 1), left = d->chaos_ns - at, lasts_ns = left;
	char name[TOPOLOGY_NODE_CHARS + 1];
	uint32_t node, port;

	any_node(d, s, hosts, switches, name, &node);
	port = any_port(d, s, node);
	if (chance(d->r, 60))
		lasts_ns = any_size(d->r, 1, left);
	add(d, "event+e%u at_ns=%" PRIu64 " action=%s node=%s port=%u", number, at, action, name,
	    port);
	if (lasts)
		also(d, " for_ns=%" PRIu64, lasts_ns);
}

static void
make_cable_event(struct draft *d, const struct scenario *s, unsigned int number)
{
	uint64_t share = any_size(d->r, 1000000, 1000000000), bits = any_size(d->r, 1, 1000000000);
	uint64_t frames = any_size(d->r, 0, 50), late = any_size(d->r, 1, 50000);

	switch (any(d->r, 0, 5)) {
	case 0:
	case 1:
		begin_event(d, s, number, "loss", true, true, true);
		also(d, " frames=%s frame_ppb=%" PRIu64,
		     WORD_OF(d, "all", "all", "data", "ack", "cnp", "pause"), share);
		break;
	case 2:
		begin_event(d, s, number, "bit_errors", true, true, true);
		also(d, " bit_errors_per_tbit=%" PRIu64, bits);
		break;
	case 3:
		begin_event(d, s, number, "corrupt", true, true, true);
		also(d, " frame_ppb=%" PRIu64, share);
		break;
	case 4:
		begin_event(d, s, number, "reorder", true, true, true);
		also(d, " frame_ppb=%" PRIu64 " reorder_frames=%" PRIu64 " delay_ns=%" PRIu64,
		     share, frames, late);
		break;
	default:
		begin_event(d, s, number, "delay", true, true, true);
		also(d, " delay_ns=%" PRIu64, late - 1);
		break;
	}
	if (chance(d->r, 50))
		also(d, " direction=%s", WORD_OF(d, "tx", "rx"));
}

static const char *const frames[] = {
	/* To all, of no known type; PFC XOFF of all, and 802.3x; LLDP; ARP; too short an IP. */
	"ffffffffffff0200000000aa9000000000000000000000000000000000000000000000000000"
	"00000000000000000000000000000000000000000000",
	"0180c20000010200000000aa88080101000f000500050005000500000000000000000000000000"
	"000000000000000000000000000000000000000000",
	"0180c20000010200000000aa8808000100ff000000000000000000000000000000000000000000"
	"000000000000000000000000000000000000000000",
	"0180c200000e0200000000aa88cc0207040200000000aa04030501060602007800000000000000"
	"000000000000000000000000000000000000000000",
	"ffffffffffff0200000000aa08060001080006040001020000000005aa0a0000630000000000000a"
	"00000100000000000000000000000000000000000000",
	"0200000000010200000000aa080045000014000000004011000001020304050607080000000000"
	"000000000000000000000000000000000000000000",
};

static void
make_fault(struct draft *d, const struct scenario *s, unsigned int number)
{
	uint64_t drain = any_size(d->r, 10000000, 9000000000), quanta = any_size(d->r, 0, 65535);
	uint64_t count = any_size(d->r, 1, 40), which = any(d->r, 0, 5);

	switch (any(d->r, 0, 9)) {
	case 0:
	case 1:
	case 2:
		make_cable_event(d, s, number);
		return;
	case 3:
	case 4:
		begin_event(d, s, number, "link_down", true, true, true);
		return;
	case 5:
		begin_event(d, s, number, "switch_restart", false, true, true);
		return;
	case 6:
		begin_event(d, s, number, "pfc_delay", false, true, true);
		also(d, " quanta=%" PRIu64, quanta);
		return;
	case 7:
		begin_event(d, s, number, "send", true, true, false);
		also(d, " count=%" PRIu64 " frame=%s", count, frames[which]);
		return;
	case 8:
		begin_event(d, s, number, "pause_storm", true, false, true);
		return;
	default:
		begin_event(d, s, number, "slow_receiver", true, false, true);
		also(d, " drain_rate_bps=%" PRIu64, drain);
		return;
	}
}

static void
make_gentle_fault(struct draft *d, const struct scenario *s, unsigned int number)
{
	uint64_t drain = any_size(d->r, 10000000, 9000000000);

	switch (any(d->r, 0, 3)) {
	case 0:
		begin_event(d, s, number, "tx_disable", false, true, true);
		return;
	case 1:
		begin_event(d, s, number, "pause_storm", true, false, true);
		return;
	case 2:
		begin_event(d, s, number, "slow_receiver", true, false, true);
		also(d, " drain_rate_bps=%" PRIu64, drain);
		return;
	default:
		begin_event(d, s, number, WORD_OF(d, "dump", "clear_counters", "clear_watermarks"),
			    false, true, false);
		return;
	}
}

/* Keys that no row gives a value, or not these. */
static const char *const special_sets[] = {
	"scheduler.strict_queues=3",
	"scheduler.strict_queues=none",
	"scheduler.dwrr_weight=3:1, *:100",
	"qos_map.pfc_enable=none",
	"qos_map.pfc_enable=3-4",
	"qos_map.tc_to_queue_map=3:4, 7:7, *:0",
	"qos_map.tc_to_priority_group_map=3:4, 7:7, *:0",
	"qos_map.dscp_to_tc_map=26:0, 48:7, *:3",
	"switch.wred_queues=none",
	"switch.wred_queues=0-7",
	"queue 3.max_rate_bps=500M",
	"queue 3.min_rate_bps=1G",
	"queue 0|3.max_rate_bps=1M",
	"buffer_profile lossless.dynamic_th=-8",
	"buffer_profile lossless.xoff_bytes=0",
	"switch.pfc_generate=off",
	"switch.lossy_pool_bytes=50000",
	"switch.fdb_entries=8",
	"rp.rp_min_rate_bps=1",
	"nic.qp_burst_bytes=0",
};

static const char *
set_of(const struct config_row *row, const struct field *f, struct draft *d, char *text,
       size_t size)
{
	char value[128];

	if (!f->live || life_any_value(d->r, f, value, sizeof(value)) == NULL)
		return NULL;
	snprintf(text, size, "%s.%s=%s", row->section, f->name, value);
	return text;
}

/* One key of a random row. */
static const char *
any_key(struct draft *d, const struct scenario *s, char *text, size_t size)
{
	static const char *const gentle[] = {"rp", "np", "dctcp", "timely", "wred"};
	unsigned int special = (unsigned int)any(d->r, 0, ARRAY_LEN(special_sets) - 1);
	struct config_rows rows = {0};
	const char *found = NULL;

	if (chance(d->r, 35)) {
		struct config_row row;
		unsigned int flow = (unsigned int)any(d->r, 0, s->n_flows - 1);
		unsigned int key = (unsigned int)any(d->r, 0, 2);

		snprintf(row.section, sizeof(row.section), "flow %s", s->flows[flow].name);
		for (unsigned int i = 0; i < flow_fields_n; i++)
			if (flow_fields[i].live && key-- == 0)
				return set_of(&row, &flow_fields[i], d, text, size);
	}
	if (!d->gentle && chance(d->r, 25)) {
		snprintf(text, size, "%s", special_sets[special]);
		return text;
	}
	switch_config_rows(&s->sw, &rows);
	nic_config_rows_common(&s->nic, &rows);
	for (unsigned int tries = 0; tries < 60 && found == NULL; tries++) {
		const struct config_row *row = &rows.rows[any(d->r, 0, rows.n - 1)];
		const struct field *f = &row->fields[any(d->r, 0, row->n - 1)];
		bool allowed = !d->gentle;

		for (unsigned int i = 0; i < ARRAY_LEN(gentle); i++)
			allowed |= strcmp(row->section, gentle[i]) == 0;
		if (allowed && row->fields != sw_device_fields &&
		    strncmp(row->section, "port", 4) != 0)
			found = set_of(row, f, d, text, size);
	}
	config_rows_free(&rows);
	return found;
}

/* Values of a file have blanks, words of a script have none. */
static void
add_set(struct draft *d, const char *set)
{
	size_t n;

	also(d, "%s", set);
	n = strlen(d->text[d->n - 1]) - strlen(set);
	for (char *c = d->text[d->n - 1] + n; *c != '\0'; c++)
		*c = *c == ' ' ? '+' : *c;
}

static void
make_set(struct draft *d, const struct scenario *s, unsigned int number)
{
	char set[200];
	unsigned int n = d->gentle ? 1 : (unsigned int)any_size(d->r, 1, 3);
	uint64_t at = any(d->r, 1, d->chaos_ns - 1), lasts_ns = d->chaos_ns - at;

	if (chance(d->r, 50))
		lasts_ns = any_size(d->r, 1, lasts_ns);
	add(d, "event+s%u at_ns=%" PRIu64 " action=set for_ns=%" PRIu64 " set=", number, at,
	    lasts_ns);
	for (unsigned int i = 0; i < n; i++) {
		const char *key = any_key(d, s, set, sizeof(set));

		if (key == NULL)
			continue;
		if (d->text[d->n - 1][strlen(d->text[d->n - 1]) - 1] != '=')
			also(d, ",+");
		add_set(d, key);
	}
}

/* ---- what is refused goes ---- */

static bool
reads(const struct draft *d, struct scenario *s, struct config_error *err)
{
	const struct script script = {.line = (char **)(uintptr_t)d->line, .n = d->n};

	return fabric_read(&script, s, err);
}

/* "life: [event e3] at_ns: ..." names the line. @return false: it names none that may go. */
static bool
drop_refused(struct draft *d, const char *why)
{
	const char *at = strchr(why, '[');
	size_t n = at == NULL ? 0 : strcspn(at + 1, "]");

	for (unsigned int i = 1; n > 0 && i < d->n; i++) {
		size_t k = strcspn(d->text[i], " ");
		bool same = k == n;

		for (size_t c = 0; same && c < n; c++)
			same = d->text[i][c] == at[1 + c] ||
			       (d->text[i][c] == '+' && at[1 + c] == ' ');
		if (same) {
			drop(d, i);
			return true;
		}
	}
	return false;
}

/* @return false: nothing is left of it. */
static bool
make_base(struct draft *d, struct scenario *s)
{
	struct config_error err;

	d->n = 0;
	d->ends = 0;
	d->gentle = chance(d->r, 25);
	make_fabric(d);
	if (strcmp(d->shape, "graph") == 0)
		make_graph(d);
	make_switch(d);
	make_vlans(d);
	make_nic(d);
	for (unsigned int n = (unsigned int)any(d->r, 1, MOST_FLOWS); n > 0; n--)
		make_flow(d, n);
	if (chance(d->r, 25))
		make_job(d);
	if (strcmp(d->shape, "leaf_spine") == 0 && chance(d->r, 20))
		add(d, "static_route+around at=leaf1 to=leaf2 via=spine1");
	while (!reads(d, s, &err))
		if (!drop_refused(d, err.text))
			return false;
	if (s->n_flows > 0)
		return true;
	scenario_free(s);
	return false;
}

/* The last line happens at all, besides what the file has without events. */
static void
keep_if_good(struct draft *d, unsigned int base)
{
	unsigned int last = d->n - 1;
	char *line = d->line[last];
	struct config_error err;
	struct scenario s;
	struct script script = {.n = base + 1};
	char *lines[MOST_LINES];

	memcpy(lines, d->line, base * sizeof(*lines));
	lines[base] = line;
	script.line = lines;
	if (fabric_read(&script, &s, &err))
		scenario_free(&s);
	else
		d->n--;
}

static void
make_events(struct draft *d, const struct scenario *s)
{
	unsigned int base = d->n, sets = (unsigned int)any_size(d->r, 0, 12);
	unsigned int faults = (unsigned int)any_size(d->r, 0, 10);

	for (unsigned int i = 1; i <= sets; i++) {
		make_set(d, s, i);
		keep_if_good(d, base);
	}
	for (unsigned int i = 1; i <= faults; i++) {
		if (d->gentle)
			make_gentle_fault(d, s, i);
		else
			make_fault(d, s, i);
		keep_if_good(d, base);
	}
}

/* The three parts: fabric_life.c. */
static void
make_times(struct draft *d, const struct scenario *s)
{
	struct fabric_plan plan = fabric_plan(s);
	uint64_t stop_ns = d->chaos_ns + plan.grace_ns + plan.grace_ns / 4;
	uint64_t end_ns, from_ns;

	if (s->fabric.reroute_after_ns != NEVER_NS)
		stop_ns += s->fabric.reroute_after_ns;
	end_ns = stop_ns + LAST_NS;
	from_ns = any(d->r, 0, end_ns - 1);
	for (uint32_t i = 0; i < s->n_flows; i++)
		add(d, "event+stop%u at_ns=%" PRIu64 " action=set set=%s+%s.stopped=on", i + 1,
		    stop_ns, s->flows[i].job != NULL ? "job" : "flow", s->flows[i].name);
	snprintf(d->text[0] + strlen(d->text[0]), LINE_CHARS - strlen(d->text[0]),
		 " duration_ns=%" PRIu64 " measure_from_ns=%" PRIu64, end_ns, from_ns);
}

void
fabric_make(struct prng *r, FILE *out)
{
	static struct draft draft;
	struct draft *d = &draft;
	struct config_error err;
	struct scenario s;

	d->r = r;
	while (!make_base(d, &s))
		;
	make_events(d, &s);
	make_times(d, &s);
	scenario_free(&s);
	/* Sets that are good alone may be bad together. */
	while (!reads(d, &s, &err))
		if (!drop_refused(d, err.text))
			drop(d, d->n - 1);
	scenario_free(&s);
	for (unsigned int i = 0; i < d->n; i++)
		fprintf(out, "%s\n", d->text[i]);
}
