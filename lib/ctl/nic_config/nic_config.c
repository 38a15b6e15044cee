/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/nic_config/nic_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/sets/names.h"
#include "base/numbers/units.h"
#include "ctl/config/config_kinds.h"
#include "ctl/config/config_sections.h"
#include "ctl/nic_config/nic_job.h"
#include "ctl/nic_config/workload_file.h"

/*
 * Exclude the last two sections: in a lab's file, switches and hosts share them, and they are
 * printed with those of the switch.
 */
#define N_OWN nic_live_sections_n
/* @ and a number of 32 bits, in the name of a connection's flow. */
#define CONNECTION_CHARS 11

void
nic_config_follow_flows(const struct config *cfg, struct nic_params *p)
{
	if ((cc_needs_of(nic_cc_mask(p)).has_window || p->rate_window_bytes > 0) &&
	    !config_gives(cfg, "nic", "ack_every"))
		p->ack_every = 1;
}

/* What the algorithm needs of keys that the file does not give. */
static void
follow_cc(const struct config *cfg, struct nic_params *out)
{
	const struct cc_ops *ops = cc_algorithms[out->cc];

	nic_config_follow_flows(cfg, out);
	if (ops->counts_cnps && !config_gives(cfg, "np", "np_min_time_between_cnps_us"))
		out->np.np_min_time_between_cnps_us = 0;
}

/* DCTCP counts CNPs as marks. */
static bool
doubt_cnp_interval(const struct config *cfg, const struct nic_params *p, struct config_error *err)
{
	char expected[128];

	if (!cc_algorithms[p->cc]->counts_cnps || p->np.np_ecn_echo ||
	    p->np.np_min_time_between_cnps_us == 0)
		return false;
	snprintf(expected, sizeof(expected),
		 "0 with cc = %s, which takes each CNP for one marked packet", cc_words[p->cc]);
	config_refuse(cfg, "np", "np_min_time_between_cnps_us", expected, err);
	return true;
}

/*
 * SIGCOMM'15 section 3.1: K must exceed N, or alpha falls between the CNPs of a queue that marks
 * all the time. The mlx profile has slots of K instead, which a CNP does not restart.
 */
static bool
doubt_alpha_timer(const struct config *cfg, const struct nic_params *p, struct config_error *err)
{
	const uint32_t k_us = p->rp.rp_dce_tcp_rtt_us, n_us = p->np.np_min_time_between_cnps_us;
	const bool is_k = config_gives(cfg, "rp", "rp_dce_tcp_rtt_us");
	char expected[160];

	if (!(nic_cc_mask(p) >> CC_DCQCN & 1) || p->rp.rp_profile != RP_PROFILE_PAPER ||
	    k_us > n_us)
		return false;
	snprintf(expected, sizeof(expected),
		 "%s than the %" PRIu32 " us of %s: alpha falls between CNPs that follow each "
		 "other as fast as they can",
		 is_k ? "more" : "less", is_k ? n_us : k_us, is_k ? "N in [np]" : "K in [rp]");
	if (is_k)
		config_refuse(cfg, "rp", "rp_dce_tcp_rtt_us", expected, err);
	else
		config_refuse(cfg, "np", "np_min_time_between_cnps_us", expected, err);
	return true;
}

bool
nic_config_doubt_cc(const struct config *cfg, const struct nic_params *p, struct config_error *err)
{
	return doubt_cnp_interval(cfg, p, err) || doubt_alpha_timer(cfg, p, err);
}

/* Read all sections from the one with this number. */
static int
read_from(struct config *cfg, unsigned int first, struct nic_params *out, struct config_error *err)
{
	int rc;

	nic_params_default(out);
	rc = config_sections_read(cfg, nic_sections + first, nic_sections_n - first, out, err);
	if (rc != 0)
		return rc;
	follow_cc(cfg, out);
	/* Now that the profile is known, set its defaults, and read the file's keys again. */
	rp_params_default(&out->rp, (enum rp_profile)out->rp.rp_profile);
	return config_read(cfg, "rp", rp_fields, rp_fields_n, &out->rp, err);
}

int
nic_config_read_common(struct config *cfg, struct nic_params *out, struct config_error *err)
{
	int rc = config_sections_refuse(cfg, nic_sections, NIC_DEVICE_SECTIONS,
					"no such key here: each NIC has a value of its own", err);

	return rc == 0 ? read_from(cfg, NIC_DEVICE_SECTIONS, out, err) : rc;
}

/* Flows whose message_cdf a flow being read may share. */
struct known {
	const struct nic_config *now;
	struct names names;
	const struct nic_flow *last; /* the flow read last, or NULL */
};

/*
 * A flow that may have read the same message_cdf: the active flow of this name, or the flow read
 * last.
 */
static const struct nic_flow *
known_flow(const struct known *known, const char *name)
{
	uint32_t at = names_find(&known->names, name);

	if (at != NAMES_NONE && known->now->flows[at].qp.cdf != NULL)
		return &known->now->flows[at];
	return known->last;
}

static int
finish_flow(struct config *cfg, const char *section, void *item, void *arg,
	    struct config_error *err)
{
	struct nic_flow *flow = item;
	struct known *known = arg;
	const struct nic_flow *other = known_flow(known, flow->name);

	known->last = flow;
	flow->qp.has_dscp = flow->dscp >= 0;
	flow->qp.dscp = flow->dscp >= 0 ? (uint8_t)flow->dscp : 0;
	flow->qp.has_imm = flow->imm_data != NIC_IMM_NUMBER;
	flow->qp.imm_data = flow->qp.has_imm ? (uint32_t)flow->imm_data : 0;
	flow->qp.vlan_tci = (uint16_t)(flow->vlan_pcp << 13 | flow->vlan_id);
	flow->qp.barrier = flow_order_is_given(flow->barrier);
	return workload_read_cdf(cfg, section, &flow->qp.work,
				 other != NULL ? &other->qp.work : NULL, err);
}

static const struct config_kind flow_kind = {
	CONFIG_KIND("flow", "NAME", struct nic_config, struct nic_flow, nic_flow_fields, flows,
		    NIC_FLOW_NAME_CHARS),
	.removable = true,
	.finish = finish_flow,
};

static const struct config_kind stream_kind = {
	CONFIG_KIND("frames", "NAME", struct nic_config, struct nic_stream, nic_stream_fields,
		    streams, NIC_STREAM_NAME_CHARS),
};

static int
read_streams(struct config *cfg, struct nic_config *out, struct config_error *err)
{
	int rc = config_kinds_read(cfg, &stream_kind, 1, out, NULL, err);

	if (rc == 0 && out->n_streams > NIC_FRAMES_STREAMS)
		rc = config_refuse(cfg, "frames", NULL, "at most 256 streams", err);
	/* Those of a running configuration too: a key of it may have changed. */
	for (unsigned int i = 0; rc == 0 && i < out->n_streams; i++)
		rc = nic_stream_finish(cfg, &out->streams[i], err);
	return rc;
}

static int
read_flows(struct config *cfg, const struct nic_config *now, struct nic_config *out,
	   struct config_error *err)
{
	struct known known = {.now = now};
	char section[NIC_FLOW_NAME_CHARS + 8];
	int rc = 0;

	/* Before keys of such a section are missed. */
	for (unsigned int i = 0; rc == 0 && now != NULL && i < now->n_job_flows; i++) {
		snprintf(section, sizeof(section), "flow %s", now->flows[i].name);
		if (config_has(cfg, section))
			rc = nic_job_refuse_name(cfg, now->flows[i].name, err);
	}
	for (unsigned int i = 0; rc == 0 && now != NULL && i < now->n_flows; i++)
		if (names_add(&known.names, now->flows[i].name) == NAMES_NONE)
			rc = config_refuse(cfg, "flow", NULL, "fewer flows: out of memory", err);
	if (rc == 0)
		rc = config_kinds_read(cfg, &flow_kind, 1, out, &known, err);
	names_free(&known.names);
	return rc;
}

/* Rules across keys of a flow and [nic]. @param qps, traces  Sums of the flows up to this one. */
static int
check_flow(const struct config *cfg, const struct nic_config *c, const struct nic_flow *flow,
	   uint64_t qps, uint64_t traces, struct config_error *err)
{
	const char *why = NULL;
	char clause[256];
	bool has_ip;

	if (nic_qp_params_check(&flow->qp, &c->nic, clause, sizeof(clause)) != 0)
		why = clause;
	if (!why && flow->qp.peer_qpn + flow->qp_count - 1 > NIC_FLOW_MAX_QPN)
		why = "peer_qpn + qp_count - 1 must not exceed 2^24 - 1";
	if (!why &&
	    (flow->qp_count - 1) * flow->qp.remote_addr_stride > UINT64_MAX - flow->qp.remote_addr)
		why = "remote_addr of the last QP must not exceed 2^64 - 1";
	if (!why && qps > c->nic.max_qps)
		why = "qp_count of all flows up to this one must not exceed max_qps of [nic]";
	if (!why && traces > NIC_MAX_TRACES)
		why = "trace_qps of all flows up to this one must not exceed 64 QPs";
	if (!why && !flow->qp.tagged && flow->qp.vlan_tci)
		why = "vlan_id and vlan_pcp need tagged = on";
	if (!why && flow->connect != NIC_CONNECT_OFF &&
	    (nic_flow_is_local(flow) || flow->qp.next_hop.version != 0))
		why = "local_mac, local_ip and next_hop need connect = off";
	if (!why && flow_order_is_given(flow->after) && !flow->qp.requester)
		why = "after must be none with requester = off: the peer begins its messages";
	if (!why && flow_order_is_given(flow->after) && flow->connect != NIC_CONNECT_OFF)
		why = "after must be none with connect: each connection is a flow of its own";
	if (!why && flow_order_is_given(flow->barrier) && flow->connect != NIC_CONNECT_OFF)
		why = "barrier must be none with connect: each connection is a flow of its own";
	has_ip = flow->qp.local_ip.version != 0;
	if (!why && !has_ip && flow->qp.peer_ip.version == 4 && c->nic.ip.version == 0)
		why = "peer_ip is IPv4, but ip of [nic] is none";
	if (!why && !has_ip && flow->qp.peer_ip.version == 6 && c->nic.ip6.version == 0)
		why = "peer_ip is IPv6, but ip6 of [nic] is none";
	return why ? nic_config_refuse_flow(cfg, flow, why, err) : 0;
}

int
nic_config_check_common(const struct config *cfg, const struct nic_params *params,
			struct config_error *err)
{
	static const uint8_t zero[6], stand_in[6] = {2};
	/*
	 * A copy with any valid address, in place of the one that the program will take from its
	 * device.
	 */
	struct nic_params filled = *params;
	struct config_rows rows = {0};
	char why[512];

	if (memcmp(filled.mac, zero, sizeof(zero)) == 0)
		memcpy(filled.mac, stand_in, sizeof(stand_in));
	if (nic_params_check(&filled, why, sizeof(why)) == 0)
		return 0;
	config_sections_rows(nic_sections, nic_sections_n, params, false, &rows);
	config_rows_refuse(cfg, &rows, why, err);
	config_rows_free(&rows);
	return -EINVAL;
}

static int
no_memory(const struct config *cfg, struct config_error *err)
{
	config_error_set(err, config_path(cfg), " out of memory");
	return -ENOMEM;
}

/* Why no flow may wait for the end of this one; NULL: it may. */
static const char *
endless(const struct nic_config *c, const struct nic_flow *flow)
{
	if (flow->job.number != 0)
		return "is one of a job";
	if (flow >= c->flows + c->n_flows)
		return "has connect: its connections are flows of their own";
	if (!flow->qp.requester)
		return "has requester = off: its messages are those of another program";
	return workload_ends(&flow->qp.work) ? NULL : "has no messages, bytes or stop_ns";
}

/* Find which flows wait for which. Patterns are known by name, too. */
static int
order_flows(const struct config *cfg, struct nic_config *c, struct config_error *err)
{
	uint32_t n = c->n_flows + c->n_patterns;
	struct flow_words *words = calloc(n + 1u, sizeof(*words));
	struct flow_order_fault fault;
	char section[NIC_FLOW_NAME_CHARS + 8];
	int rc = words == NULL ? -ENOMEM : 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		words[i] = (struct flow_words){.name = c->flows[i].name,
					       .after = c->flows[i].after,
					       .barrier = c->flows[i].barrier,
					       .endless = endless(c, &c->flows[i])};
	flow_order_free(&c->order);
	if (rc == 0)
		rc = flow_order_read(&c->order, words, n, &fault);
	free(words);
	if (rc == -ENOMEM)
		return no_memory(cfg, err);
	if (rc == 0)
		return 0;
	snprintf(section, sizeof(section), "flow %s", c->flows[fault.flow].name);
	return config_refuse(cfg, section, "after", fault.expected, err);
}

/* Does an earlier section accept all that this one could? */
static bool
is_forestalled(const struct nic_config *c, const struct nic_flow *pattern)
{
	static const uint8_t any[16];
	const struct field_ip *ip = &pattern->qp.peer_ip;
	size_t n = ip->version == 4 ? 4 : 16;
	bool found = false;

	for (const struct nic_flow *p = &c->flows[c->n_flows]; p < pattern; p++)
		found = found ||
			(p->connect == NIC_CONNECT_LISTEN && p->cm_port == pattern->cm_port &&
			 (!p->qp.tagged ||
			  (pattern->qp.tagged && p->vlan_id == pattern->vlan_id)) &&
			 p->qp.peer_ip.version == ip->version &&
			 (memcmp(p->qp.peer_ip.addr, any, n) == 0 ||
			  memcmp(p->qp.peer_ip.addr, ip->addr, n) == 0));
	return found;
}

/* 224.0.0.0/4 and the broadcast address (RFC 1112, RFC 919), ff00::/8 (RFC 4291). */
static bool
is_multicast(const struct field_ip *ip)
{
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	if (ip->version == 6)
		return ip->addr[0] == 0xFF;
	return ip->addr[0] >> 4 == 14 || memcmp(ip->addr, broadcast, sizeof(broadcast)) == 0;
}

/* Rules of a section with connect. Its connections have QP numbers and PSNs of their own. */
static int
check_pattern(const struct config *cfg, const struct nic_config *c, const struct nic_flow *pattern,
	      struct config_error *err)
{
	static const uint8_t none[16];
	const struct nic_qp_params *qp = &pattern->qp;
	const char *why = NULL;

	if (qp->verb == NIC_UD_SEND)
		why = "verb must not be ud_send with connect: RDMA CM opens reliable connections";
	else if (qp->raw)
		why = "raw must be off with connect";
	else if (pattern->local_qpn > 0)
		why = "local_qpn must be 0 with connect: each connection takes a free one";
	else if (qp->initial_psn > 0)
		why = "initial_psn must be 0 with connect: the peers agree on it";
	else if (qp->peer_psn > 0)
		why = "peer_psn must be 0 with connect: the peers agree on it";
	else if (qp->remote_addr_stride > 0)
		why = "remote_addr_stride must be 0 with connect: each connection has one QP";
	else if (pattern->qp_count > NIC_CM_CONNECTIONS)
		why = "qp_count must not exceed 1024 connections with connect";
	else if (pattern->connect == NIC_CONNECT_LISTEN && pattern->qp_count > 1)
		why = "qp_count must be 1 with connect = listen: the peers determine the number";
	else if (pattern->connect == NIC_CONNECT_CM &&
		 memcmp(qp->peer_ip.addr, none, qp->peer_ip.version == 4 ? 4 : 16) == 0)
		why = "peer_ip must be the peer's address with connect = cm";
	else if (pattern->connect == NIC_CONNECT_CM && is_multicast(&qp->peer_ip))
		why = "peer_ip must not be a multicast address with connect = cm";
	else if (pattern->connect == NIC_CONNECT_LISTEN && is_forestalled(c, pattern))
		why = "cm_port must not be that of an earlier section, which takes these peers";
	else if (strlen(pattern->name) > NIC_FLOW_NAME_CHARS - CONNECTION_CHARS)
		why = "connect needs a name of at most 21 characters";
	return why ? nic_config_refuse_flow(cfg, pattern, why, err)
		   : check_flow(cfg, c, pattern, pattern->qp_count, 0, err);
}

static int
check(const struct config *cfg, struct nic_config *c, struct config_error *err)
{
	struct ranges used = {0};
	uint64_t qps = 0, traces = 0;
	int rc = nic_config_check_common(cfg, &c->nic, err);

	for (unsigned int i = 0; rc == 0 && i < c->n_flows; i++) {
		qps += c->flows[i].qp_count;
		traces += min_u64(c->flows[i].qp_count, c->flows[i].trace_qps);
		rc = check_flow(cfg, c, &c->flows[i], qps, traces, err);
	}
	for (unsigned int i = 0; rc == 0 && i < c->n_patterns; i++)
		rc = check_pattern(cfg, c, &c->flows[c->n_flows + i], err);
	if (rc == 0)
		rc = nic_config_number(cfg, c, &used, NULL, NULL, err);
	ranges_free(&used);
	return rc == 0 ? order_flows(cfg, c, err) : rc;
}

/* Move the sections with connect to the end, in order: they are patterns, not flows. */
static int
split_patterns(struct nic_config *out)
{
	struct nic_flow *sorted = malloc((out->n_flows + 1) * sizeof(*sorted));
	unsigned int n = 0, all = out->n_flows;

	if (!sorted)
		return -ENOMEM;
	for (int pattern = 0; pattern <= 1; pattern++) {
		for (unsigned int i = 0; i < all; i++)
			if ((out->flows[i].connect != NIC_CONNECT_OFF) == pattern)
				sorted[n++] = out->flows[i];
		if (!pattern)
			out->n_flows = n;
	}
	out->n_patterns = all - out->n_flows;
	free(out->flows);
	out->flows = sorted;
	return 0;
}

/* A file does not know the flows of connections: they stay. */
static int
keep_connections(const struct nic_config *now, struct nic_config *out)
{
	struct nic_flow *grown =
		realloc(out->flows, (out->n_flows + now->n_flows + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	out->flows = grown;
	for (unsigned int i = 0; i < now->n_flows; i++) {
		if (!strchr(now->flows[i].name, NIC_CONNECTION_SIGN) ||
		    nic_config_find(out, now->flows[i].name))
			continue;
		out->flows[out->n_flows++] = now->flows[i];
		workload_share(&now->flows[i].qp.work);
	}
	return 0;
}

static int
refuse_sign(const struct config *cfg, const struct nic_config *c, struct config_error *err)
{
	char section[NIC_FLOW_NAME_CHARS + 8];

	for (unsigned int i = 0; i < c->n_flows; i++) {
		if (!strchr(c->flows[i].name, NIC_CONNECTION_SIGN))
			continue;
		snprintf(section, sizeof(section), "flow %s", c->flows[i].name);
		return config_refuse(cfg, section, NULL,
				     "a name without @, which stands in the names of connections",
				     err);
	}
	return 0;
}

/*
 * The algorithms of flows, and of those of connections to come. A running NIC has memory for those
 * of its start.
 */
static int
gather_cc(const struct config *cfg, const struct nic_config *now, struct nic_config *out,
	  struct config_error *err)
{
	if (now != NULL)
		out->nic.cc_of_flows = now->nic.cc_of_flows;
	for (unsigned int i = 0; i < out->n_flows + out->n_patterns; i++) {
		const struct nic_flow *flow = &out->flows[i];
		uint32_t bit = flow->qp.cc > 0 ? 1u << cc_chosen(flow->qp.cc, out->nic.cc) : 0;

		if (now != NULL && (bit & ~nic_cc_mask(&now->nic)))
			return nic_config_refuse_flow(
				cfg, flow,
				"cc must be default, or an algorithm that [nic], a flow or a job "
				"had when the program started",
				err);
		out->nic.cc_of_flows |= bit;
	}
	nic_config_follow_flows(cfg, &out->nic);
	return 0;
}

/* Complete out after a read that returned rc. @return 0, or an error with out freed. */
static int
finish(struct config *cfg, const struct nic_config *now, struct nic_config *out, bool from_file,
       int rc, struct config_error *err)
{
	if (rc == 0)
		rc = read_flows(cfg, now, out, err);
	if (rc == 0)
		rc = read_streams(cfg, out, err);
	if (rc == 0)
		rc = config_kinds_read(cfg, &nic_job_kind, 1, out, &out->nic, err);
	if (rc == 0 && from_file)
		rc = refuse_sign(cfg, out, err);
	if (rc == 0 && from_file && now != NULL && keep_connections(now, out) != 0)
		rc = no_memory(cfg, err);
	if (rc == 0 && split_patterns(out) != 0)
		rc = no_memory(cfg, err);
	if (rc == 0)
		rc = nic_jobs_add_flows(cfg, out, err);
	if (rc == 0)
		rc = gather_cc(cfg, now, out, err);
	if (rc == 0)
		rc = check(cfg, out, err);
	if (rc != 0)
		nic_config_free(out);
	return rc;
}

int
nic_config_read(struct config *cfg, const struct nic_config *now, struct nic_config *out,
		struct config_error *err)
{
	*out = (struct nic_config){0};
	return finish(cfg, now, out, true, read_from(cfg, 0, &out->nic, err), err);
}

static int
copy_flows(const struct nic_config *from, struct nic_config *out)
{
	/* Not the flows of jobs, which come first. */
	const struct nic_flow *flows = from->flows + from->n_job_flows;
	unsigned int all = from->n_flows - from->n_job_flows + from->n_patterns;

	if (nic_jobs_copy(from, out) != 0)
		return -ENOMEM;
	out->streams = malloc((from->n_streams + 1) * sizeof(out->streams[0]));
	out->flows = malloc((all + 1) * sizeof(out->flows[0]));
	if (!out->flows || !out->streams)
		return -ENOMEM;
	out->n_streams = from->n_streams;
	if (from->n_streams > 0)
		memcpy(out->streams, from->streams, from->n_streams * sizeof(out->streams[0]));
	/* Patterns too: split_patterns() follows. */
	out->n_flows = all;
	if (all > 0)
		memcpy(out->flows, flows, all * sizeof(out->flows[0]));
	for (unsigned int i = 0; i < out->n_flows; i++)
		workload_share(&out->flows[i].qp.work);
	return 0;
}

int
nic_config_set(struct config *cfg, const struct nic_config *now, struct nic_config *out,
	       struct config_error *err)
{
	int rc;

	config_changes(cfg);
	*out = (struct nic_config){.nic = now->nic};
	rc = copy_flows(now, out);
	if (rc != 0)
		no_memory(cfg, err);
	if (rc == 0)
		rc = config_sections_read(cfg, nic_sections, nic_sections_n, &out->nic, err);
	return finish(cfg, now, out, false, rc, err);
}

/* Remove a flow from a copy. @return false: there is none of this name. */
static bool
take_out(struct nic_config *c, const char *name, size_t chars)
{
	for (unsigned int i = 0; i < c->n_flows; i++) {
		if (strlen(c->flows[i].name) != chars ||
		    memcmp(c->flows[i].name, name, chars) != 0 ||
		    c->flows[i].connect != NIC_CONNECT_OFF)
			continue;
		workload_release(&c->flows[i].qp.work);
		c->n_flows--;
		memmove(&c->flows[i], &c->flows[i + 1], (c->n_flows - i) * sizeof(c->flows[0]));
		return true;
	}
	return false;
}

int
nic_config_remove(struct config *cfg, const struct nic_config *now, const char *names,
		  struct nic_config *out, struct config_error *err)
{
	*out = (struct nic_config){.nic = now->nic};
	if (copy_flows(now, out) != 0) {
		nic_config_free(out);
		return no_memory(cfg, err);
	}
	do {
		size_t chars = strcspn(names, "\n");

		if (!take_out(out, names, chars)) {
			config_error_set(err, config_path(cfg), " there is no [flow %.*s]",
					 (int)chars, names);
			nic_config_free(out);
			return -EINVAL;
		}
		names += chars + (names[chars] == '\n');
	} while (*names != '\0');
	if (split_patterns(out) != 0) {
		nic_config_free(out);
		return no_memory(cfg, err);
	}
	if (nic_jobs_add_flows(cfg, out, err) == 0 && order_flows(cfg, out, err) == 0)
		return 0;
	nic_config_free(out);
	return -EINVAL;
}

void
nic_config_free(struct nic_config *config)
{
	for (unsigned int i = 0; i < config->n_flows + config->n_patterns; i++)
		workload_release(&config->flows[i].qp.work);
	nic_jobs_free(config);
	flow_order_free(&config->order);
	free(config->flows);
	free(config->streams);
	config->flows = NULL;
	config->streams = NULL;
	config->n_flows = config->n_patterns = config->n_streams = config->n_job_flows = 0;
}

/*
 * Print our formulas, because vendors and papers define the weights of alpha in opposite ways, and
 * the maximum rate in force, because rp_max_rate_bps may be 0.
 */
static void
print_formulas(FILE *out, const struct nic_params *params)
{
	const struct rp_params *rp = &params->rp;
	uint64_t max_bps = rp->rp_max_rate_bps > 0 ? rp->rp_max_rate_bps : params->link_speed_bps;
	bool mlx = rp->rp_profile == RP_PROFILE_MLX;

	fprintf(out,
		"# [rp] in force, with a = rp_dce_tcp_g / 1024 = %u/1024, the weight of the old "
		"alpha:\n"
		"#   every %u us without a CNP: alpha = a alpha\n"
		"#   %s: alpha = a alpha + (1 - a)\n"
		"#   cut: rate = rate (1 - alpha x 1024 / 2^%u), and at least %u %% of it\n"
		"#   free of the limiter at rp_max_rate_bps in force: %" PRIu64 " bit/s\n\n",
		rp->rp_dce_tcp_g, rp->rp_dce_tcp_rtt_us,
		mlx ? "every such slot with one" : "at a CNP, after its cut", rp->rp_gd,
		rp->rp_min_dec_fac_pct, max_bps);
}

/* Print the sections that only NICs have, from this number on. */
static void
print_own(FILE *out, const struct nic_params *params, unsigned int first)
{
	struct config_rows rows = {.out = out};

	config_sections_rows(nic_sections + first, N_OWN - first, params, false, &rows);
	config_rows_end(&rows);
	if (params->cc == CC_DCQCN)
		print_formulas(out, params);
}

void
nic_config_print_common(FILE *out, const struct nic_params *params)
{
	print_own(out, params, NIC_DEVICE_SECTIONS);
}

/* Add the rows that nic_config_rows_common() leaves out. A running switch may change the keys of
 * these sections, a running NIC may not. */
static void
other_rows(const struct nic_config *config, struct config_rows *rows)
{
	struct nic_config all = *config;

	config_sections_rows(nic_sections + N_OWN, nic_sections_n - N_OWN, &config->nic, true,
			     rows);
	all.flows += all.n_job_flows;
	all.n_flows += all.n_patterns - all.n_job_flows;
	config_kinds_rows(&flow_kind, 1, &all, rows);
	config_kinds_rows(&stream_kind, 1, &all, rows);
	config_kinds_rows(&nic_job_kind, 1, &all, rows);
}

void
nic_config_print(FILE *out, const struct nic_config *config)
{
	struct config_rows rows = {.out = out};

	print_own(out, &config->nic, 0);
	other_rows(config, &rows);
	config_rows_end(&rows);
}

void
nic_config_rows_common(const struct nic_params *params, struct config_rows *rows)
{
	config_sections_rows(nic_sections + NIC_DEVICE_SECTIONS, N_OWN - NIC_DEVICE_SECTIONS,
			     params, false, rows);
}

void
nic_config_rows(const struct nic_config *config, struct config_rows *rows)
{
	config_sections_rows(nic_sections, N_OWN, &config->nic, false, rows);
	other_rows(config, rows);
}

void
nic_config_print_reference_common(FILE *out)
{
	config_sections_print_reference(out, nic_sections + NIC_DEVICE_SECTIONS,
					N_OWN - NIC_DEVICE_SECTIONS, false);
}

void
nic_config_print_reference(FILE *out)
{
	config_sections_print_reference(out, nic_sections, N_OWN, false);
	config_sections_print_reference(out, nic_sections + N_OWN, nic_sections_n - N_OWN, true);
	config_kinds_print_reference(out, &flow_kind, 1);
	config_kinds_print_reference(out, &stream_kind, 1);
	config_kinds_print_reference(out, &nic_job_kind, 1);
}
