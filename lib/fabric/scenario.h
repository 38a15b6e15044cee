/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fabric is made of and what runs over it: the contents of a scenario file.
 *
 * Hosts are numbered from 1. Host N has MAC 02:00:00:00:hh:ll and address 10.0.hh.ll of its number,
 * and hangs on port N - 1 of the switch (topology star).
 */
#ifndef QUENCH_FABRIC_SCENARIO_H
#define QUENCH_FABRIC_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "nic/nic.h"
#include "nic/nic_trace.h"
#include "nic/workload.h"
#include "switch/sw.h"

enum fabric_topology { FABRIC_STAR };

#define FLOW_NAME_CHARS 32
#define FLOW_HOSTS_CHARS 128

struct fabric_params {
	int topology; /* enum fabric_topology */
	uint16_t hosts;
	uint64_t link_rate_bps;
	uint64_t link_delay_ns;
	uint64_t duration_ns;
	uint64_t measure_from_ns;
	uint64_t sample_ns;
	uint64_t seed;
	char slow_hosts[FLOW_HOSTS_CHARS + 1]; /* that [receiver] is about, or "all" */
};

extern const struct field fabric_fields[];
extern const unsigned int fabric_fields_n;

/* One [flow NAME]: from each host in src to dst, qp_count QPs that all do the same. */
struct flow_params {
	char name[FLOW_NAME_CHARS + 1];
	char src[FLOW_HOSTS_CHARS + 1]; /* "1", "1-4", "1,3,5-7" */
	uint16_t dst;
	uint16_t qp_count;
	uint16_t mtu_bytes;
	int verb;             /* enum nic_verb */
	int8_t dscp;          /* -1: the hosts' data_dscp */
	uint32_t max_recv_wr; /* of the responder; 0: there is always one */
	uint64_t post_recv_ns;
	WORKLOAD_EMBED;
	uint64_t rate_cap_bps; /* 0: none */
	uint64_t base_rtt_ns;  /* for slowdown; 0: the least that is measured */
	uint16_t trace_qps;    /* of each source, the first ones */
};

extern const struct field flow_fields[];
extern const unsigned int flow_fields_n;

struct scenario {
	struct fabric_params fabric;
	struct sw_params sw;   /* ports, speeds and addresses are filled in from fabric */
	struct nic_params nic; /* of all hosts; addresses and speeds are filled in */
	struct flow_params *flows;
	uint32_t n_flows;
};

/** Hosts of a list such as "1,3-5" as the next number after previous (0: the first); 0 at the end,
 * -1 malformed. */
int32_t host_list_next(const char *list, uint16_t previous);

/** Frames that buffer and cables may hold: what each of the fabric's packet pools must have. */
uint64_t scenario_backing_frames(const struct scenario *s);

void scenario_host_mac(uint16_t host, uint8_t mac[6]);
struct field_ip scenario_host_ip(uint16_t host);

/* What a rule across keys found wrong: section and key, and what was expected. */
struct scenario_fault {
	char section[64];
	const char *key;
	char expected[128];
};

/**
 * Check what no single key of fabric and flows can show, and fill in what follows for switch and
 * NICs, whose own rules (sw_params_check(), nic_params_check()) are the caller's to ask.
 * @return 0, or -EINVAL with fault filled in.
 */
int scenario_resolve(struct scenario *s, struct scenario_fault *fault);

#endif
