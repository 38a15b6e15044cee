/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a scenario as a whole, values that follow from it, and the size of its packet pools. */
#include "fabric/scenario/scenario_parts.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field/field.h"
#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "base/numbers/units.h"
#include "fabric/topology/host_list.h"

/*
 * Number of frames that a host holds or has prepared ahead: of each of the first hosts, and of each
 * further one.
 */
#define FRAMES_PER_HOST 1024u
#define GENEROUS_HOSTS 64u
#define FRAMES_PER_FURTHER_HOST 16u
/* Bytes of buffer per mbuf of a pool; with shorter frames the pool may run out. */
#define BACKING_FRAME_BYTES 512u
/*
 * As BACKING_FRAME_BYTES, for frames on cables in a fabric of several switches, where nearly all
 * data is in longer frames.
 */
#define CABLE_FRAME_BYTES 1024u
#define MAX_BACKING_FRAMES (1u << 24)
/* Limit on the frames for the buffers of many switches by default: some 190 MB. */
#define LARGE_FABRIC_FRAMES 100000u

static int
check_flow(const struct scenario *s, const struct flow_params *flow, struct scenario_fault *fault)
{
	char text[64];

	if (!nic_is_mtu(flow->mtu_bytes))
		return scenario_refuse(fault, "flow", flow->name, "mtu_bytes", NIC_MTU_TEXT);
	if (flow->max_recv_wr > 0 && flow->post_recv_ns == 0)
		return scenario_refuse(fault, "flow", flow->name, "post_recv_ns",
				       "a time above 0 with max_recv_wr");
	if (flow->verb == NIC_UD_SEND && workload_largest_bytes(&flow->work) > flow->mtu_bytes)
		return scenario_refuse(fault, "flow", flow->name, "message_bytes",
				       "mtu_bytes at most with verb = ud_send");
	if (flow->verb == NIC_READ && flow->depth > s->nic.max_rd_atomic &&
	    !workload_is_open(&flow->work)) {
		snprintf(text, sizeof(text), "%u (max_rd_atomic) at most with verb = read",
			 s->nic.max_rd_atomic);
		return scenario_refuse(fault, "flow", flow->name, "depth", text);
	}
	if (flow->stop_ns <= flow->start_ns)
		return scenario_refuse(fault, "flow", flow->name, "stop_ns",
				       "a time after start_ns");
	return 0;
}

static int
check_stream(const struct scenario *s, struct stream_params *stream, struct scenario_fault *fault)
{
	uint32_t hosts[TOPOLOGY_MAX_HOSTS];
	int32_t n = host_list_parse(s->topology, stream->dst, hosts);

	if (n != 1)
		return scenario_refuse(fault, "stream", stream->name, "dst",
				       "one host of the fabric, such as 5, h5 or T4/1");
	stream->to = hosts[0];
	n = host_list_parse(s->topology, stream->src, hosts);
	if (n <= 0)
		return scenario_refuse(fault, "stream", stream->name, "src",
				       "hosts of the fabric, such as 1-4 or 1,3");
	if (stream->stop_ns <= stream->start_ns)
		return scenario_refuse(fault, "stream", stream->name, "stop_ns",
				       "a time after start_ns");
	if (stream->headers != STREAM_ETHERNET && s->fabric.ip_version == FABRIC_IPV6)
		return scenario_refuse(fault, "stream", stream->name, "headers",
				       "ethernet with ip_version = 6 of [fabric]");
	if (stream->headers == STREAM_ETHERNET && s->routes != NULL)
		return scenario_refuse(fault, "stream", stream->name, "headers",
				       "ip or udp: the switches of this fabric are routers");
	stream->from = calloc((size_t)n, sizeof(*stream->from));
	if (stream->from == NULL)
		return scenario_refuse(fault, "stream", stream->name, "src",
				       "fewer hosts: out of memory");
	stream->n_from = (uint32_t)n;
	memcpy(stream->from, hosts, (size_t)n * sizeof(*hosts));
	for (int32_t i = 0; i < n; i++) {
		const struct topology_host *h = &s->topology->hosts[hosts[i] - 1];
		uint64_t rate_bps = s->topology->links[h->link].cable.rate_bps;

		if (hosts[i] == stream->to)
			return scenario_refuse(fault, "stream", stream->name, "src",
					       "hosts other than dst");
		if (stream->rate_bps > rate_bps)
			return scenario_refuse(fault, "stream", stream->name, "rate_bps",
					       "the rate of the hosts' links at most");
	}
	return 0;
}

static uint64_t
buffer_bytes(const struct scenario *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		bytes += scenario_switch_params(s, i)->mmu.buffer_bytes;
	return bytes;
}

/* Speed of the link of an event. */
static uint64_t
event_rate_bps(const struct scenario *s, uint32_t event)
{
	const struct topology *t = s->topology;

	return t->links[topology_link_at(t, s->events[event].at)].cable.rate_bps;
}

/* Bytes in flight on all cables in both directions, including cables that events lengthen. */
static uint64_t
cable_bytes(const struct scenario *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->topology->n_links; i++) {
		const struct fabric_cable *cable = &s->topology->links[i].cable;

		bytes += 2 * mul_div(cable->delay_ns, cable->rate_bps, 8 * NS_PER_SEC);
	}
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].action == EVENT_DELAY)
			bytes += 2 * mul_div(s->events[i].delay_ns, event_rate_bps(s, i),
					     8 * NS_PER_SEC);
	return bytes;
}

uint64_t
scenario_backing_frames(const struct scenario *s)
{
	uint64_t hosts = s->topology->n_hosts;
	uint64_t buffers = buffer_bytes(s) / BACKING_FRAME_BYTES;

	if (s->fabric.backing_frame_bytes > 0)
		buffers = buffer_bytes(s) / s->fabric.backing_frame_bytes;
	else if (s->topology->n_switches > 1)
		buffers = min_u64(buffers, LARGE_FABRIC_FRAMES);
	return buffers +
	       cable_bytes(s) /
		       (s->topology->n_switches > 1 ? CABLE_FRAME_BYTES : BACKING_FRAME_BYTES) +
	       min_u64(hosts, GENEROUS_HOSTS) * FRAMES_PER_HOST +
	       (hosts > GENEROUS_HOSTS ? hosts - GENEROUS_HOSTS : 0) * FRAMES_PER_FURTHER_HOST;
}

static int
check_fabric(struct scenario *s, struct scenario_fault *fault)
{
	uint32_t hosts[TOPOLOGY_MAX_HOSTS];

	if (s->fabric.measure_from_ns >= s->fabric.duration_ns)
		return scenario_refuse(fault, "fabric", "", "measure_from_ns",
				       "a time before duration_ns");
	if (scenario_backing_frames(s) > MAX_BACKING_FRAMES)
		return scenario_refuse(
			fault, "fabric", "", "link_delay_ns",
			"buffer_bytes and the bytes in flight on cables of at most 8.5 GB in total");
	if (host_list_parse(s->topology, s->fabric.slow_hosts, hosts) < 0)
		return scenario_refuse(fault, "fabric", "", "slow_hosts",
				       "all, or hosts such as 1-4 or 1,3");
	if (scenario_add_jobs(s, fault) < 0)
		return -EINVAL;
	if (s->n_flows == 0 && s->n_streams == 0 && !scenario_sends_frames(s))
		return scenario_refuse(fault, "flow", "", NULL,
				       "a [flow NAME], a [job NAME] or a [stream NAME], or an "
				       "[event NAME] that sends frames");
	for (uint32_t i = 0; i < s->n_streams; i++)
		if (check_stream(s, &s->streams[i], fault) < 0)
			return -EINVAL;
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (scenario_pair_hosts(s, &s->flows[i], fault) < 0 ||
		    check_flow(s, &s->flows[i], fault) < 0 ||
		    scenario_check_reach(s, &s->flows[i], fault) < 0)
			return -EINVAL;
	return scenario_order_flows(s, fault);
}

/* The switch with the most ports, against which rules about ports are checked. */
static uint32_t
largest_switch(const struct topology *t)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->n_switches; i++)
		if (t->switches[i].n_ports > t->switches[best].n_ports)
			best = i;
	return best;
}

static bool
has_curve(const struct sw_params *sw, const char *name)
{
	if (strcmp(name, SW_PROFILE_DEFAULT) == 0 || strcmp(name, SW_PROFILE_NONE) == 0)
		return true;
	for (unsigned int i = 0; i < sw->n_wred_profiles; i++)
		if (strcmp(sw->wred_profiles[i].name, name) == 0)
			return true;
	return false;
}

static int
fill_switches(struct scenario *s, struct scenario_fault *fault)
{
	scenario_switch_fill(s, largest_switch(s->topology), &s->sw);
	/* Common seed; each switch adds its number. */
	s->sw.seed = s->fabric.seed;
	for (uint32_t i = 0; i < s->n_switches; i++) {
		int64_t sw = topology_find(s->topology, s->switches[i].name);

		scenario_switch_fill(s, (uint32_t)sw, &s->switches[i].sw);
	}
	for (uint32_t i = 0; i < s->n_links; i++)
		if (!has_curve(&s->sw, s->links[i].wred_profile))
			return scenario_refuse(fault, "link", s->links[i].name, "wred_profile",
					       "default, none or the name of a [wred NAME]");
	for (uint32_t i = 0; s->routes != NULL && i < s->topology->n_switches; i++)
		for (uint32_t n = 0; n < routes_n_subnets(s->routes); n++) {
			struct port_set ways = routes_ports(s->routes, i, n);

			if (port_set_count(&ways) > SW_MAX_NEXTHOPS)
				return scenario_refuse(fault, "fabric", "", "topology",
						       "256 shortest paths at most at a switch");
		}
	return 0;
}

static void
fill_nics(struct scenario *s)
{
	s->nic.link_speed_bps = s->fabric.link_rate_bps;
	s->nic.shaper_burst_ns = 1;
	s->nic.exact_pacing = true;
	s->nic.cc_of_flows = scenario_cc_of_flows(s);
	/* For the checks use the addresses of host 1. Each host gets its own addresses later. */
	scenario_set_nic_ip(s, 1, &s->nic);
	scenario_host_mac(1, s->nic.mac);
}

/* Read size_edges: sizes that rise. */
static int
read_edges(struct fabric_params *f, struct scenario_fault *fault)
{
	static const struct field edge = {.name = "size_edges",
					  .type = FIELD_U64,
					  .unit = UNIT_BYTES,
					  .max = WORKLOAD_MAX_BYTES};
	static const char expected[] = "none, or 1 to 15 sizes that rise, such as 3KB, 100KB, 1MB";
	char list[FLOW_HOSTS_CHARS + 1], *rest = list, *word;

	f->n_edges = 0;
	if (strcmp(f->size_edges, "none") == 0)
		return 0;
	strcpy(list, f->size_edges);
	while ((word = strsep(&rest, ", ")) != NULL) {
		uint64_t bytes;

		if (*word == '\0')
			continue;
		if (f->n_edges == SCENARIO_MAX_EDGES ||
		    field_parse(&edge, NULL, word, &bytes, NULL, 0) != 0 ||
		    (f->n_edges > 0 && bytes <= f->edges[f->n_edges - 1]))
			return scenario_refuse(fault, "fabric", "", "size_edges", expected);
		f->edges[f->n_edges++] = bytes;
	}
	if (f->n_edges == 0)
		return scenario_refuse(fault, "fabric", "", "size_edges", expected);
	return 0;
}

int
scenario_resolve(struct scenario *s, struct scenario_fault *fault)
{
	if (read_edges(&s->fabric, fault) < 0 || scenario_build_topology(s, fault) < 0 ||
	    scenario_check_ports(s, fault) < 0 || scenario_place_hosts(s, fault) < 0 ||
	    scenario_give_hosts(s, fault) < 0 || scenario_check_events(s, fault) < 0 ||
	    check_fabric(s, fault) < 0 || fill_switches(s, fault) < 0)
		return -EINVAL;
	fill_nics(s);
	return 0;
}

int
scenario_reserve_switches(struct scenario *s, uint32_t n)
{
	s->switches = pages_alloc_sparse(n * sizeof(*s->switches));
	s->max_switches = n;
	return s->switches == NULL ? -ENOMEM : 0;
}

void
scenario_release(struct scenario *s)
{
	/* A file that was refused may have no flows yet but those of its sections. */
	for (uint64_t i = 0; i < max_u64(s->n_flows, s->n_flow_sections); i++) {
		free(s->flows[i].pairs);
		free(s->flows[i].messages_of_pairs);
		free(s->flows[i].trace_after);
	}
	for (uint32_t i = 0; i < s->n_jobs; i++) {
		job_graph_free(&s->jobs[i].graph);
		job_keys_release(&s->jobs[i].keys);
		free(s->jobs[i].hosts);
		free((void *)(uintptr_t)s->jobs[i].servers.first);
	}
	for (uint32_t i = 0; i < s->n_streams; i++)
		free(s->streams[i].from);
	sw_tables_free(&s->sw.tables);
	routes_destroy(s->routes);
	free(s->hosts);
	free(s->host_sections);
	topology_destroy(s->topology);
	free(s->records);
	free(s->events);
	free(s->streams);
	free(s->jobs);
	free(s->flows);
	flow_order_free(&s->order);
	free(s->static_routes);
	free(s->links);
	free(s->ports);
	pages_free_sparse(s->switches, s->max_switches * sizeof(*s->switches));
	/* Not the params, whose rows are a megabyte that nobody has touched. */
	memset(&s->host_sections, 0, sizeof(*s) - offsetof(struct scenario, host_sections));
}
