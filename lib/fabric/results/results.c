/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run from its measurements, and their digest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "fabric/results/probe.h"
#include "fabric/results/probe_state.h"

/*
 * Jain, Chiu, Hawe 1984: (sum x)^2 / (n sum x^2). All hosts together send less than 2^56 bit/s
 * (65536 hosts of 800 Gb/s), so the square of the sum has at most 112 bits. The sum of the squares
 * has at most 96, since no host sends more than 2^40 bit/s; n is at most 2^20.
 */
struct jain {
	unsigned __int128 sum, squares;
	uint32_t n;
};

static void
jain_add(struct jain *j, uint64_t rate_bps)
{
	j->sum += rate_bps;
	j->squares += (unsigned __int128)rate_bps * rate_bps;
	j->n++;
}

static uint32_t
jain_ppm(const struct jain *j)
{
	if (j->squares == 0)
		return 0;
	/* Times 10^6, the square of a large sum would not fit: 2^-16 of it is lost at most. */
	if (j->sum >> 53 != 0)
		return (uint32_t)((j->sum * j->sum >> 16) * 1000000 / (j->squares * j->n >> 16));
	return (uint32_t)(j->sum * j->sum * 1000000 / (j->squares * j->n));
}

/* Fairness among all flows, and among those of an algorithm. */
static void
shares(struct run_result *out)
{
	struct jain all = {0}, of[CC_ALGORITHMS] = {0};

	for (uint32_t i = 0; i < out->n_flows; i++) {
		const struct flow_result *r = &out->flows[i];
		struct cc_result *cc = &out->cc[r->flow->cc];

		jain_add(&all, r->wire_rate_bps);
		if (r->silent)
			continue;
		jain_add(&of[r->flow->cc], r->wire_rate_bps);
		cc->lowest_bps = cc->flows == 0 ? r->wire_rate_bps
						: min_u64(cc->lowest_bps, r->wire_rate_bps);
		cc->highest_bps = max_u64(cc->highest_bps, r->wire_rate_bps);
		cc->wire_rate_bps += r->wire_rate_bps;
		cc->flows++;
	}
	out->jain_ppm = jain_ppm(&all);
	for (int i = 0; i < CC_ALGORITHMS; i++)
		out->cc[i].jain_ppm = jain_ppm(&of[i]);
}

/* The counts are at the requester. For UD, only the receiver has them. */
static uint64_t
messages_completed(const struct flow_result *r)
{
	switch (r->flow->params->verb) {
	case NIC_READ:
		return r->dst.tx_messages;
	case NIC_UD_SEND:
		return r->dst.rx_messages;
	default:
		return r->src.tx_messages;
	}
}

static void
flow_results(const struct probe *p, struct run_result *out, uint64_t window_ns)
{
	for (uint32_t i = 0; i < out->n_flows; i++) {
		struct flow_result *r = &out->flows[i];

		net_flow_info(p->net, i, &r->src, &r->dst);
		r->flow = net_flow(p->net, i);
		r->wire_rate_bps =
			probe_bps(r->src.tx_wire_bytes - p->at_open[i].tx_wire_bytes, window_ns);
		r->goodput_bps = probe_bps(r->dst.rx_payload_bytes - p->at_open[i].rx_payload_bytes,
					   window_ns);
		r->messages_completed = messages_completed(r);
		r->error = r->src.error || r->dst.error;
		r->silent = net_flow_is_silent(r->flow, &r->src, &r->dst);
	}
}

/* The queue with the longest mean; on a single switch the one that was sampled. */
static uint32_t
find_bottleneck(const struct probe *p)
{
	uint32_t best = p->bottleneck;
	uint64_t most = 0;

	for (uint32_t i = 0; !p->single_switch && i < p->n_queues; i++) {
		const struct lengths *lengths = &p->queues[i].lengths;

		if (lengths->sum > most) {
			most = lengths->sum;
			best = i;
		}
	}
	return best;
}

static struct queue_result
queue_result(const struct probe *p, uint32_t index, uint64_t window_ns)
{
	const struct probe_queue *q = &p->queues[index];
	const struct lengths *lengths = &q->lengths;
	/* With fast-forward, a window may be left out as a whole. */
	uint64_t ticks = max_u64(p->switches[q->sw].ticks, 1);
	const struct topology *t = scenario_of(p)->topology;
	uint64_t rate_bps = t->links[t->switches[q->sw].link[q->port]].cable.rate_bps;
	uint64_t capacity = mul_div(rate_bps, window_ns, 8 * NS_PER_SEC);
	uint64_t sent = probe_port_wire_bytes(q) - q->wire_bytes_at_open;
	uint64_t received = probe_port_rx_wire_bytes(q) - q->rx_wire_bytes_at_open;
	struct queue_result r = {
		.sw = q->sw,
		.port = q->port,
		.queue = q->queue,
		.link_use_ppm = capacity ? (uint32_t)mul_div(sent, 1000000, capacity) : 0,
		.rx_link_use_ppm = capacity ? (uint32_t)mul_div(received, 1000000, capacity) : 0,
		.ecn_marked_packets =
			sw_port_stats(q->node, q->port)->queue[q->queue].ecn_marked_packets,
	};

	r.watched = !p->single_switch || index == p->bottleneck;
	if (lengths->count == 0)
		return r;
	r.sum_bytes = lengths->sum;
	r.mean_bytes = r.sum_bytes / ticks;
	r.max_bytes = lengths->max;
	r.p50_bytes = lengths_quantile(lengths, ticks - lengths->count, 50);
	r.p99_bytes = lengths_quantile(lengths, ticks - lengths->count, 99);
	return r;
}

/* FNV-1a over the integers of the results, on top of the hop-by-hop digest. */
static uint64_t
digest_bytes(uint64_t digest, const void *data, size_t n)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < n; i++)
		digest = (digest ^ bytes[i]) * 0x100000001b3ull;
	return digest;
}

static uint64_t
digest_u64(uint64_t digest, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return digest_bytes(digest, bytes, sizeof(bytes));
}

static uint64_t
digest_qp(uint64_t d, const struct nic_qp_info *q)
{
	const uint64_t values[] = {
		q->rate_bps,      q->target_rate_bps,
		q->alpha_q32,     q->tx_wire_bytes,
		q->tx_packets,    q->retransmitted_packets,
		q->tx_messages,   q->rx_payload_bytes,
		q->rx_messages,   q->rx_packets,
		q->rx_wire_bytes, q->cnps_handled,
		q->cnps_sent,     q->rate_cuts,
		q->min_rate_bps,  q->error,
		q->done,
	};

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		d = digest_u64(d, values[i]);
	return d;
}

static uint64_t
digest_ports(const struct probe *p, uint64_t d)
{
	for (uint32_t k = 0; k < p->n_queues; k++) {
		const struct sw_port_stats *s = sw_port_stats(p->queues[k].node, p->queues[k].port);

		d = digest_u64(d, s->rx_bytes);
		d = digest_u64(d, s->tx_bytes);
		d = digest_u64(d, s->tx_pause_frames);
		/*
		 * Hash reasons by name, and only nonzero counts, so that a new reason does not
		 * change earlier digests.
		 */
		for (unsigned int i = 0; i < SW_DROPS; i++) {
			const char *name = sw_drop_name((enum sw_drop)i);

			if (s->drops[i] != 0)
				d = digest_u64(digest_bytes(d, name, strlen(name)), s->drops[i]);
		}
		for (unsigned int q = 0; q < TM_CLASSES; q++)
			d = digest_u64(d, s->queue[q].ecn_marked_packets);
	}
	return d;
}

/*
 * The first three reasons are hashed by number, because they are older than the rule to hash by
 * name.
 */
static uint64_t
digest_cable_drop(uint64_t d, uint32_t direction, enum cable_drop why)
{
	const char *name = cable_drop_name(why);

	if (why <= CABLE_DROP_LINK_DOWN)
		return digest_u64(d, direction * 3u + why);
	return digest_u64(digest_bytes(d, name, strlen(name)), direction);
}

/* Only nonzero counts, as above. */
static uint64_t
digest_cables(const struct probe *p, uint64_t d)
{
	const struct topology *t = scenario_of(p)->topology;

	for (uint32_t i = 0; i < 2 * t->n_links; i++) {
		const struct topology_end end = i % 2 ? t->links[i / 2].b : t->links[i / 2].a;

		for (unsigned int k = 0; k < CABLE_DROP_REASONS; k++) {
			uint64_t n = net_cable_drops(p->net, end, k);

			if (n != 0)
				d = digest_u64(digest_cable_drop(d, i, k), n);
		}
	}
	return d;
}

static uint64_t
digest_jobs(const struct probe *p, const struct run_result *r, uint64_t d)
{
	for (uint32_t i = 0; i < scenario_of(p)->n_jobs; i++)
		for (uint32_t k = 0; k < r->jobs[i].ended; k++)
			d = digest_u64(digest_u64(d, r->jobs[i].iterations[k].begin_ns),
				       r->jobs[i].iterations[k].end_ns);
	return d;
}

static uint64_t
digest_of(const struct probe *p, const struct run_result *r)
{
	uint64_t d = fabric_stats(net_fabric(p->net)).digest;

	for (uint32_t i = 0; i < r->n_flows; i++)
		d = digest_qp(digest_qp(d, &r->flows[i].src), &r->flows[i].dst);
	d = digest_jobs(p, r, digest_cables(p, digest_ports(p, d)));
	d = digest_u64(d, r->bottleneck.sum_bytes);
	d = digest_u64(d, r->bottleneck.p99_bytes);
	return digest_u64(d, r->packet_hops);
}

static uint64_t
last_pause_ns(const struct probe *p)
{
	uint64_t last_ns = NEVER_NS;

	for (uint32_t i = 0; i < scenario_of(p)->topology->n_switches; i++) {
		const struct probe_switch *s = &p->switches[i];

		if (s->pause_frames > 0 && (last_ns == NEVER_NS || s->last_pause_ns > last_ns))
			last_ns = s->last_pause_ns;
	}
	return last_ns;
}

/* Frames created: those that hosts sent, and those that the switch sent beyond what it received. */
static uint64_t
frames_made(const struct probe *p)
{
	uint64_t n = probe_pause_frames(p);

	for (uint32_t h = 1; h <= scenario_of(p)->topology->n_hosts; h++) {
		const struct node *tester = net_tester(p->net, h);
		uint32_t streams =
			tester == NULL ? 0 : scenario_streams_of(scenario_of(p), h, NULL);

		n += nic_stats(net_host(p->net, h))->tx_packets;
		for (uint32_t i = 0; i < streams; i++)
			n += tester_sent(tester, i)->tx_packets;
	}
	return n;
}

/* The slowest of the links of the ranks' hosts. */
static uint64_t
rate_bps(const struct net *net, const struct job_section *job)
{
	const struct topology *t = net_scenario(net)->topology;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < job->graph.n_ranks; i++)
		least = min_u64(least, t->links[t->hosts[job->hosts[i] - 1].link].cable.rate_bps);
	return least;
}

/* The rates of the NICs of each server that have ranks of the job. */
static void
add_links(const struct net *net, const struct job_section *job, uint64_t *links_bps)
{
	const struct topology *t = net_scenario(net)->topology;
	const struct collective_servers *servers = &job->servers;
	bool used[TOPOLOGY_MAX_HOSTS + 1] = {0};

	for (uint32_t i = 0; i < servers->n; i++)
		for (uint32_t rank = servers->first[i]; rank < servers->first[i + 1]; rank++) {
			uint32_t host = job->hosts[rank];

			if (!used[host])
				links_bps[i] += t->links[t->hosts[host - 1].link].cable.rate_bps;
			used[host] = true;
		}
}

/* @return 0 or -ENOMEM. */
static int
find_job(const struct net *net, uint32_t number, struct job_result *out)
{
	const struct scenario *s = net_scenario(net);
	const struct job_section *job = &s->jobs[number];
	struct job_member *of = malloc(job->graph.n_ranks * sizeof(*of));
	uint64_t *links_bps = calloc(job->servers.n + 1ull, sizeof(*links_bps));
	const struct job_places places = {.servers = &job->servers,
					  .links_bps = links_bps,
					  .inside_bps = s->fabric.server_rate_bps};
	const struct job_members members = {
		.keys = &job->keys,
		.graph = &job->graph,
		.of = of,
		.n = job->graph.n_ranks,
		.link_bps = rate_bps(net, job),
		.places = job->servers.n > 0 ? &places : NULL,
		.ipv6 = s->fabric.ip_version == FABRIC_IPV6,
		.now_ns = net_clock_ns(net, s->fabric.duration_ns),
	};
	int rc = -ENOMEM;

	for (uint32_t i = 0; of != NULL && i < members.n; i++)
		of[i] = net_job_member(net, number, i);
	if (links_bps != NULL)
		add_links(net, job, links_bps);
	if (of != NULL && links_bps != NULL)
		rc = job_result(&members, out);
	free(links_bps);
	free(of);
	return rc;
}

int
probe_result(const struct probe *p, struct run_result *out)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t window_ns = params->duration_ns - params->measure_from_ns;

	*out = (struct run_result){.n_flows = net_flow_count(p->net)};
	out->n_queues = p->n_queues;
	out->flows = calloc(out->n_flows, sizeof(*out->flows));
	out->queues = calloc(out->n_queues, sizeof(*out->queues));
	out->events = calloc(scenario_of(p)->n_events + 1, sizeof(*out->events));
	out->jobs = calloc(scenario_of(p)->n_jobs + 1, sizeof(*out->jobs));
	if (out->flows == NULL || out->queues == NULL || out->events == NULL || out->jobs == NULL ||
	    pauses_tree(p->pauses, net_clock_ns(p->net, params->duration_ns), &out->pause_tree) <
		    0 ||
	    slowdowns_summary(p->slowdowns, params->edges, params->n_edges, &out->slowdown) < 0) {
		run_result_free(out);
		return -ENOMEM;
	}
	out->n_jobs = scenario_of(p)->n_jobs;
	for (uint32_t i = 0; i < out->n_jobs; i++)
		if (find_job(p->net, i, &out->jobs[i]) < 0) {
			run_result_free(out);
			return -ENOMEM;
		}
	for (uint32_t i = 0; i < scenario_of(p)->n_events; i++)
		out->events[i] = events_result(p->events, i);
	for (uint32_t i = 0; i < out->n_queues; i++)
		out->queues[i] = queue_result(p, i, window_ns);
	flow_results(p, out, window_ns);
	shares(out);
	out->bottleneck = out->queues[find_bottleneck(p)];
	out->pause_frames_after_measure = probe_pause_frames(p) - p->pause_frames_at_open;
	out->last_pause_ns = last_pause_ns(p);
	out->frames = frames_made(p);
	out->packet_hops = fabric_stats(net_fabric(p->net)).packet_hops;
	out->has_fast_forward = p->fast_forward != NULL;
	if (p->fast_forward != NULL)
		out->fast_forward = *fast_forward_result(p->fast_forward);
	out->digest = digest_of(p, out);
	return 0;
}

void
run_result_free(struct run_result *r)
{
	for (uint32_t i = 0; r->jobs != NULL && i < r->n_jobs; i++)
		job_result_free(&r->jobs[i]);
	pause_tree_free(&r->pause_tree);
	free(r->jobs);
	free(r->events);
	free(r->queues);
	free(r->flows);
	r->jobs = NULL;
	r->pause_tree = (struct pause_tree){0};
	r->events = NULL;
	r->queues = NULL;
	r->flows = NULL;
}
