/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "base/units.h"

static const char *const topologies[] = {"star", NULL};

#define F(member) .name = #member, .offset = offsetof(struct fabric_params, member)

const struct field fabric_fields[] = {
	{F(topology), .type = FIELD_ENUM, .choices = topologies, .def = "star",
	 .help = "star: one switch, all hosts on it"},
	{F(hosts), .type = FIELD_U16, .min = 2, .max = SW_MAX_PORTS, .def = "5",
	 .help = "number of hosts"},
	{F(link_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS, .min = MBPS, .max = 800 * GBPS,
	 .def = "40G", .help = "speed of every link, both ways"},
	{F(link_delay_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = 0, .max = NS_PER_SEC,
	 .def = "1us", .help = "propagation delay of every link, one way"},
	{F(duration_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = NS_PER_US,
	 .max = 3600 * NS_PER_SEC, .def = "200ms", .help = "simulated time"},
	{F(measure_from_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = 0, .max = 3600 * NS_PER_SEC,
	 .def = "0", .help = "start of the measured window"},
	{F(sample_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = NS_PER_US, .max = NS_PER_SEC,
	 .def = "100us", .help = "time between rows of the CSV files"},
	{F(seed), .type = FIELD_U64, .min = 0, .max = INT64_MAX, .def = "1",
	 .help = "seed of all random choices"},
	{F(slow_hosts), .type = FIELD_STR, .max = FLOW_HOSTS_CHARS, .def = "all",
	 .help = "hosts that [receiver] is about: all, or such as 1-4 or 1,3"},
};
const unsigned int fabric_fields_n = sizeof(fabric_fields) / sizeof(fabric_fields[0]);

#undef F
#define F(member) .name = #member, .offset = offsetof(struct flow_params, member)

const struct field flow_fields[] = {
	{F(src), .type = FIELD_STR, .max = FLOW_HOSTS_CHARS, .def = NULL,
	 .help = "requesting hosts, such as 1-4 or 1,3: one flow for each"},
	{F(dst), .type = FIELD_U16, .min = 1, .max = SW_MAX_PORTS, .def = NULL,
	 .help = "responding host"},
	{F(qp_count), .type = FIELD_U16, .min = 1, .max = 4096, .def = "1",
	 .help = "QPs of each flow"},
	{F(mtu_bytes), .type = FIELD_U16, .min = 256, .max = 4096, .def = "1024",
	 .help = "path MTU: 256, 512, 1024, 2048 or 4096"},
	{F(verb), .type = FIELD_ENUM, .choices = nic_verb_words, .def = "write",
	 .help = "what a message is: an RDMA WRITE, one with immediate data, a SEND, an RDMA READ, "
		 "whose data goes from dst to src, or a UD SEND of one packet"},
	{F(dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",
	 .help = "DSCP of its packets, both ways; -1: data_dscp of [nic]"},
	{F(max_recv_wr), .type = FIELD_U32, .max = NIC_MAX_RECV_WR, .def = "0",
	 .help = "receive WQEs of each QP of dst: SEND, and WRITE with immediate, take one, or get "
		 "an "
		 "RNR NAK; 0: there is always one"},
	{F(post_recv_ns), .type = FIELD_U64, .unit = UNIT_NS, .max = NIC_MAX_POST_RECV_NS,
	 .def = "0", .help = "time in which one receive WQE is posted again, one after the other"},
	WORKLOAD_FIELDS(struct flow_params, work, "4MB", "2"),
	{F(rate_cap_bps), .type = FIELD_U64, .unit = UNIT_BPS, .min = 0, .max = 800 * GBPS,
	 .def = "0", .help = "highest rate of one QP, wire bytes; 0 is the link's"},
	{F(base_rtt_ns), .type = FIELD_U64, .unit = UNIT_NS, .max = NS_PER_SEC, .def = "0",
	 .help = "round-trip time of a packet on an idle network, for the slowdown of messages; 0: "
		 "the least one measured"},
	{F(trace_qps), .type = FIELD_U16, .max = NIC_MAX_TRACES, .def = "0",
	 .help = "QPs of each flow, the first ones, whose every change of rate goes to trace.csv"},
};
const unsigned int flow_fields_n = sizeof(flow_fields) / sizeof(flow_fields[0]);

#undef F

/* One "N" or "N-M" and what is behind it. */
static const char *
parse_range(const char *text, unsigned long *first, unsigned long *last)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*first = *last = strtoul(text, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return NULL;
		*last = strtoul(end + 1, &end, 10);
	}
	if (*first == 0 || *last < *first || *last > UINT16_MAX)
		return NULL;
	if (*end != '\0' && *end != ',')
		return NULL;
	return end;
}

int32_t
host_list_next(const char *list, uint16_t previous)
{
	const char *at = list;
	int32_t next = 0;

	for (;;) {
		unsigned long first, last;

		while (*at == ' ')
			at++;
		at = parse_range(at, &first, &last);
		if (at == NULL)
			return -1;
		if (last > previous) {
			int32_t candidate = first > previous ? (int32_t)first : previous + 1;

			if (next == 0 || candidate < next)
				next = candidate;
		}
		if (*at == '\0')
			return next;
		at++;
	}
}

static int
refuse(struct scenario_fault *fault, const char *word, const char *name, const char *key,
       const char *expected)
{
	snprintf(fault->section, sizeof(fault->section), "%s%s%s", word, *name ? " " : "", name);
	fault->key = key;
	snprintf(fault->expected, sizeof(fault->expected), "%s", expected);
	return -EINVAL;
}

static int
check_flow(const struct scenario *s, const struct flow_params *flow, struct scenario_fault *fault)
{
	int32_t host = 0;
	char hosts[64];

	snprintf(hosts, sizeof(hosts), "a host from 1 to %u", s->fabric.hosts);
	if (flow->dst > s->fabric.hosts)
		return refuse(fault, "flow", flow->name, "dst", hosts);
	do {
		host = host_list_next(flow->src, (uint16_t)host);
		if (host < 0)
			return refuse(fault, "flow", flow->name, "src", "hosts such as 1-4 or 1,3");
		if (host > s->fabric.hosts)
			return refuse(fault, "flow", flow->name, "src", hosts);
		if (host == flow->dst)
			return refuse(fault, "flow", flow->name, "src", "hosts other than dst");
	} while (host != 0);
	if ((flow->mtu_bytes & (flow->mtu_bytes - 1)) != 0)
		return refuse(fault, "flow", flow->name, "mtu_bytes",
			      "one of 256, 512, 1024, 2048, 4096");
	if (flow->max_recv_wr > 0 && flow->post_recv_ns == 0)
		return refuse(fault, "flow", flow->name, "post_recv_ns",
			      "a time above 0 with max_recv_wr");
	if (flow->verb == NIC_UD_SEND && workload_largest_bytes(&flow->work) > flow->mtu_bytes)
		return refuse(fault, "flow", flow->name, "message_bytes",
			      "mtu_bytes at most with verb = ud_send");
	if (flow->verb == NIC_READ && flow->depth > s->nic.max_rd_atomic &&
	    !workload_is_open(&flow->work)) {
		snprintf(hosts, sizeof(hosts), "%u (max_rd_atomic) at most with verb = read",
			 s->nic.max_rd_atomic);
		return refuse(fault, "flow", flow->name, "depth", hosts);
	}
	if (flow->stop_ns <= flow->start_ns)
		return refuse(fault, "flow", flow->name, "stop_ns", "a time behind start_ns");
	return 0;
}

/* Frames in a node's hands or stamped ahead, per host. */
#define FRAMES_PER_HOST 1024
/* design: a pool backs a buffer with one mbuf for this many bytes; smaller frames may find none. */
#define BACKING_FRAME_BYTES 512
#define MAX_BACKING_FRAMES (1u << 24)

uint64_t
scenario_backing_frames(const struct scenario *s)
{
	/* What is on the way on all cables, both ways. */
	uint64_t cable_bytes =
		2 * s->fabric.hosts *
		mul_div(s->fabric.link_delay_ns, s->fabric.link_rate_bps, 8 * NS_PER_SEC);

	return (s->sw.mmu.buffer_bytes + cable_bytes) / BACKING_FRAME_BYTES +
	       s->fabric.hosts * FRAMES_PER_HOST;
}

static bool
slow_hosts_fit(const struct scenario *s)
{
	int32_t host = 0;

	if (strcmp(s->fabric.slow_hosts, "all") == 0)
		return true;
	do {
		host = host_list_next(s->fabric.slow_hosts, (uint16_t)host);
		if (host < 0 || host > s->fabric.hosts)
			return false;
	} while (host != 0);
	return true;
}

static int
check_fabric(const struct scenario *s, struct scenario_fault *fault)
{
	if (s->fabric.measure_from_ns >= s->fabric.duration_ns)
		return refuse(fault, "fabric", "", "measure_from_ns", "a time before duration_ns");
	if (scenario_backing_frames(s) > MAX_BACKING_FRAMES)
		return refuse(fault, "fabric", "", "link_delay_ns",
			      "buffer_bytes and what the cables hold to be 8.5 GB at most");
	if (!slow_hosts_fit(s))
		return refuse(fault, "fabric", "", "slow_hosts",
			      "all, or hosts such as 1-4 or 1,3");
	if (s->n_flows == 0)
		return refuse(fault, "flow", "", NULL, "at least one [flow NAME] section");
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (check_flow(s, &s->flows[i], fault) < 0)
			return -EINVAL;
	return 0;
}

static void
set_switch_ports(struct scenario *s)
{
	s->sw.n_ports = s->fabric.hosts;
	for (uint16_t p = 0; p < s->sw.n_ports; p++) {
		struct sw_port_params *port = &s->sw.ports[p];

		*port = (struct sw_port_params){
			.mac = {0x02, 0, 0, 1, 0, (uint8_t)p},
			.link_speed_bps = s->fabric.link_rate_bps,
			.flow_control = SW_FLOW_PFC,
			.pfcwd = true,
		};
	}
	/* In virtual time nobody comes late, so nothing is caught up. */
	s->sw.shaper_burst_ns = 1;
	s->sw.seed = s->fabric.seed;
}

static void
set_nics(struct scenario *s)
{
	s->nic.link_speed_bps = s->fabric.link_rate_bps;
	s->nic.shaper_burst_ns = 1;
	/* Those of host 1, for the checks; each host gets its own. */
	s->nic.ip = scenario_host_ip(1);
	scenario_host_mac(1, s->nic.mac);
}

void
scenario_host_mac(uint16_t host, uint8_t mac[6])
{
	const uint8_t m[6] = {0x02, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host};

	memcpy(mac, m, sizeof(m));
}

struct field_ip
scenario_host_ip(uint16_t host)
{
	return (struct field_ip){.version = 4,
				 .addr = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}};
}

int
scenario_resolve(struct scenario *s, struct scenario_fault *fault)
{
	if (check_fabric(s, fault) < 0)
		return -EINVAL;
	set_switch_ports(s);
	set_nics(s);
	sw_params_resolve(&s->sw);
	return 0;
}
