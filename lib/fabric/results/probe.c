/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/probe.h"
#include "fabric/results/probe_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/*
 * Number of queues sampled per microsecond. With more queues, ticks are further apart, because
 * sampling would dominate the cost of a run.
 */
#define QUEUES_PER_US 256u

/* Sent by the ports of queues [first, end). */
static uint64_t
pause_frames(const struct probe *p, uint32_t first, uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < end; i++)
		n += sw_port_stats(p->queues[i].node, p->queues[i].port)->tx_pause_frames;
	return n;
}

/* @return false: out of memory. */
static bool
sample_queue(struct probe_queue *q, uint64_t weight)
{
	uint64_t bytes = sw_queue_bytes(q->node, q->port, q->queue);

	if (bytes > q->peak_bytes)
		q->peak_bytes = bytes;
	/* queue_result() adds the ticks at which the queue was empty. */
	if (weight == 0 || bytes == 0)
		return true;
	return lengths_add(&q->lengths, bytes, weight);
}

/* weight: number of ticks; 0: a sample between ticks, which has no part in means and quantiles. */
static void
sample_switch(struct probe_switch *s, uint64_t now_ns, uint64_t weight)
{
	const struct probe *p = s->probe;
	uint32_t first = p->first_queue[s->index], end = p->first_queue[s->index + 1];
	uint64_t pauses = pause_frames(p, first, end);

	if (pauses != s->pause_frames)
		s->last_pause_ns = now_ns + net_skipped_ns(p->net);
	s->pause_frames = pauses;
	if (!p->measuring)
		weight = 0;
	if (p->single_switch) {
		first = p->bottleneck;
		end = first + 1;
	}
	for (uint32_t i = first; i < end; i++)
		s->no_memory |= !sample_queue(&p->queues[i], weight);
	s->ticks += weight;
}

static void
on_tick(void *arg, uint64_t first_ns, uint64_t n)
{
	sample_switch(arg, first_ns, n);
}

/* At each stop of the run. @return false: out of memory. */
static bool
sample_switches(struct probe *p, uint64_t now_ns)
{
	bool ok = true;

	uint64_t clock_ns = net_clock_ns(p->net, now_ns);

	fabric_tick(net_fabric(p->net), clock_ns);
	for (uint32_t i = 0; i < scenario_of(p)->topology->n_switches; i++) {
		if (!net_owns(p->net, i))
			continue;
		if (now_ns % p->tick_ns != 0)
			sample_switch(&p->switches[i], clock_ns,
				      now_ns == scenario_of(p)->fabric.duration_ns);
		ok &= !p->switches[i].no_memory;
	}
	return ok;
}

/*
 * With a single switch: the port of the host that receives from the most QPs; of equals, the lowest
 * port.
 */
static uint16_t
most_wanted_port(const struct net *net)
{
	uint32_t wanted[SW_MAX_PORTS] = {0};
	uint16_t best = 0;

	for (uint32_t i = 0; i < net_flow_count(net); i++)
		wanted[net_flow_receiver(net_flow(net, i)).host - 1] += net_flow(net, i)->qps;
	for (uint16_t port = 1; port < SW_MAX_PORTS; port++)
		if (wanted[port] > wanted[best])
			best = port;
	return best;
}

static uint8_t
data_queue(const struct probe *p)
{
	const struct scenario *s = net_in_force(p->net);

	return qos_map_classify(&s->sw.qos, s->nic.data_dscp, -1).queue;
}

/* List the data queues of all ports, and find the ones to sample. */
static int
list_queues(struct probe *p)
{
	const struct topology *t = scenario_of(p)->topology;
	uint8_t queue = data_queue(p);
	uint32_t n = 0;

	p->first_queue = calloc(t->n_switches + 1, sizeof(*p->first_queue));
	if (p->first_queue == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_switches; i++)
		p->first_queue[i + 1] = p->first_queue[i] + t->switches[i].n_ports;
	p->n_queues = p->first_queue[t->n_switches];
	p->queues = calloc(p->n_queues, sizeof(*p->queues));
	if (p->queues == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			p->queues[n++] = (struct probe_queue){.node = net_switch(p->net, i),
							      .sw = i,
							      .port = port,
							      .queue = queue};
	/* A single switch has a known bottleneck, and only that queue is sampled. */
	p->single_switch = t->n_switches == 1;
	if (p->single_switch)
		p->bottleneck = most_wanted_port(p->net);
	p->tick_ns = PROBE_TICK_NS * (p->single_switch ? 1 : (p->n_queues - 1) / QUEUES_PER_US + 1);
	return 0;
}

/* Node i of the fabric is switch i. */
static int
watch_switches(struct probe *p)
{
	uint32_t n = scenario_of(p)->topology->n_switches;

	p->switches = calloc(n + 1, sizeof(*p->switches));
	if (p->switches == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct fabric_watch watch = {
			.fn = on_tick, .arg = &p->switches[i], .every_ns = p->tick_ns};

		p->switches[i] = (struct probe_switch){.probe = p, .index = i};
		fabric_watch_node(net_fabric(p->net), i, &watch);
	}
	return 0;
}

struct probe *
probe_create(struct net *net)
{
	struct probe *p = calloc(1, sizeof(*p));
	uint32_t flows = net_flow_count(net);

	if (p == NULL)
		return NULL;
	p->net = net;
	p->next_messages_ns = PROBE_MESSAGES_NS;
	p->at_open = calloc(flows, sizeof(*p->at_open));
	p->at_sample = calloc(flows, sizeof(*p->at_sample));
	p->samples = calloc(flows, sizeof(*p->samples));
	if (p->at_open == NULL || p->at_sample == NULL || p->samples == NULL ||
	    (p->slowdowns = slowdowns_create()) == NULL ||
	    (p->pauses = pauses_create(net)) == NULL || net_record_messages(net) < 0 ||
	    list_queues(p) < 0 || watch_switches(p) < 0) {
		probe_destroy(p);
		errno = ENOMEM;
		return NULL;
	}
	return p;
}

void
probe_destroy(struct probe *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; p->queues != NULL && i < p->n_queues; i++)
		lengths_free(&p->queues[i].lengths);
	events_destroy(p->events);
	fast_forward_destroy(p->fast_forward);
	slowdowns_destroy(p->slowdowns);
	pauses_destroy(p->pauses);
	free(p->queues);
	free(p->switches);
	free(p->first_queue);
	free(p->samples);
	free(p->at_sample);
	free(p->at_open);
	free(p);
}

uint64_t
probe_port_wire_bytes(const struct probe_queue *q)
{
	const struct sw_port_stats *stats = sw_port_stats(q->node, q->port);

	return stats->tx_bytes + stats->tx_packets * GAP_BYTES;
}

uint64_t
probe_port_rx_wire_bytes(const struct probe_queue *q)
{
	const struct sw_port_stats *stats = sw_port_stats(q->node, q->port);

	return stats->rx_bytes + stats->rx_packets * GAP_BYTES;
}

uint64_t
probe_pause_frames(const struct probe *p)
{
	return pause_frames(p, 0, p->n_queues);
}

static void
open_window(struct probe *p)
{
	p->measuring = true;
	/* The results of the others are rank 0's. */
	if (!net_has_all(p->net))
		return;
	for (uint32_t i = 0; i < p->n_queues; i++) {
		p->queues[i].wire_bytes_at_open = probe_port_wire_bytes(&p->queues[i]);
		p->queues[i].rx_wire_bytes_at_open = probe_port_rx_wire_bytes(&p->queues[i]);
	}
	p->pause_frames_at_open = probe_pause_frames(p);
	for (uint32_t i = 0; i < net_flow_count(p->net); i++) {
		struct nic_qp_info src, dst;

		net_flow_info(p->net, i, &src, &dst);
		p->at_open[i] = (struct flow_bytes){src.tx_wire_bytes, dst.rx_payload_bytes};
	}
}

uint64_t
probe_bps(uint64_t bytes, uint64_t ns)
{
	return ns ? mul_div(bytes, 8 * NS_PER_SEC, ns) : 0;
}

static void
take_flow_samples(struct probe *p, uint64_t now_ns)
{
	uint64_t ns = now_ns - p->previous_ns;

	for (uint32_t i = 0; i < net_flow_count(p->net); i++) {
		struct nic_qp_info src, dst;

		net_flow_info(p->net, i, &src, &dst);
		p->samples[i] = (struct flow_sample){
			.wire_rate_bps =
				probe_bps(src.tx_wire_bytes - p->at_sample[i].tx_wire_bytes, ns),
			.goodput_bps = probe_bps(
				dst.rx_payload_bytes - p->at_sample[i].rx_payload_bytes, ns),
			.src = src,
			.dst = dst,
		};
		p->at_sample[i] = (struct flow_bytes){src.tx_wire_bytes, dst.rx_payload_bytes};
	}
}

/* Do all ranks go on? */
static bool
agree(const struct probe *p, bool go_on)
{
	struct ranks *ranks = net_ranks(p->net);

	if (ranks != NULL)
		go_on = ranks_min(ranks, go_on) > 0;
	/* A failure is not a stop that all ranks know of. */
	if (!go_on)
		errno = ranks != NULL ? -ranks->error : 0;
	return go_on;
}

static bool
take_sample(struct probe *p, probe_sample_fn sample, void *arg, uint64_t now_ns)
{
	bool go_on = true;

	if (sample != NULL && !probe_gather_sample(p))
		return false;
	if (sample != NULL) {
		if (net_has_all(p->net))
			take_flow_samples(p, now_ns);
		go_on = agree(p, sample(arg, p, now_ns));
	}
	p->previous_ns = now_ns;
	for (uint32_t i = 0; i < p->n_queues; i++)
		p->queues[i].peak_bytes = 0;
	return go_on;
}

/*
 * Time of the sample after that at now_ns. After a sample with nothing to tell, the samples of the
 * rest of the idle time are left out, except for its last one.
 */
static uint64_t
after_sample_ns(struct probe *p, uint64_t now_ns)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	bool was_idle = p->acts_ns > now_ns;
	uint64_t end_ns, samples = 1;

	p->acts_ns = min_u64(add_sat(fabric_next_ns(net_fabric(p->net)), net_skipped_ns(p->net)),
			     events_next_ns(p->events));
	/* A signal may end the idle time, too. */
	p->acts_ns = min_u64(p->acts_ns, net_after_next_ns(p->net));
	end_ns = min_u64(p->acts_ns, params->duration_ns);
	if (was_idle && end_ns > now_ns)
		samples = max_u64((end_ns - now_ns - 1) / params->sample_ns, 1);
	return now_ns + samples * params->sample_ns;
}

/*
 * Next time at which to stop and read values: a sample, progress, the start or the end of the
 * measured window. A stop for progress is at a tick, because stops between ticks show in the peaks
 * of queues.
 */
static uint64_t
next_stop_ns(const struct probe *p, uint64_t next_sample_ns, uint64_t next_progress_ns)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t tick_ns = add_sat(next_progress_ns, p->tick_ns - 1) / p->tick_ns * p->tick_ns;
	uint64_t stop_ns = min_u64(min_u64(tick_ns, next_sample_ns), params->duration_ns);

	return p->measuring ? stop_ns : min_u64(stop_ns, params->measure_from_ns);
}

/* Run up to now_ns. Flows that wait for others begin when those have ended. */
static int
run_flows(struct probe *p, uint64_t now_ns)
{
	int rc = 0;

	if (p->fast_forward != NULL && fast_forward_result(p->fast_forward)->skips_any)
		return fast_forward_run(p->fast_forward, now_ns);
	while (rc == 0 && net_after_next_ns(p->net) <= now_ns) {
		uint64_t look_ns = net_after_next_ns(p->net);

		rc = fabric_run(net_fabric(p->net), look_ns);
		if (rc == 0)
			net_after_run(p->net, look_ns);
	}
	return rc < 0 ? rc : fabric_run(net_fabric(p->net), now_ns);
}

/* Run up to now_ns, stopping at each event. */
static int
run_to(struct probe *p, uint64_t now_ns)
{
	uint8_t queue;
	int rc = 0;

	while (rc == 0 && events_next_ns(p->events) <= now_ns) {
		uint64_t event_ns = events_next_ns(p->events);

		rc = run_flows(p, event_ns);
		if (rc == 0)
			rc = events_run(p->events, event_ns);
		/* A change of the maps moves the data. */
		queue = data_queue(p);
		for (uint32_t i = 0; i < p->n_queues; i++)
			p->queues[i].queue = queue;
	}
	if (rc == 0)
		rc = run_flows(p, now_ns);
	errno = -rc;
	return rc;
}

int
probe_fast_forward(struct probe *p)
{
	p->fast_forward = fast_forward_create(p->net);
	return p->fast_forward == NULL ? -ENOMEM : 0;
}

void
probe_on_messages(struct probe *p, probe_messages_fn fn, void *arg)
{
	p->messages_fn = fn;
	p->messages_arg = arg;
}

/* Take over the messages recorded so far. @return false: out of memory. */
static bool
take_messages(struct probe *p, uint64_t now_ns)
{
	const struct nic_message *messages;
	int64_t n = net_recorded_messages(p->net, &messages);
	int rc = 0;

	p->next_messages_ns = now_ns + PROBE_MESSAGES_NS;
	for (int64_t i = 0; rc == 0 && i < n; i++) {
		const struct nic_message *m = &messages[i];

		if (m->ideal_ns > 0)
			rc = slowdowns_add(p->slowdowns, m->bytes, m->end_ns - m->begun_ns,
					   m->ideal_ns);
	}
	if (n > 0 && p->messages_fn != NULL)
		p->messages_fn(p->messages_arg, p->net, messages, (uint32_t)n);
	errno = n < 0 || rc < 0 ? ENOMEM : 0;
	return errno == 0;
}

/* @return false: out of memory. */
static bool
take_not_ended(struct probe *p, uint64_t now_ns)
{
	const struct nic_message *messages;
	int64_t n;
	int rc = 0;

	if (!net_record_not_ended(p->net, now_ns))
		slowdowns_cut_backlog(p->slowdowns);
	n = net_recorded_messages(p->net, &messages);
	for (int64_t i = 0; rc == 0 && i < n; i++)
		rc = slowdowns_add_not_ended(p->slowdowns, messages[i].bytes);
	errno = n < 0 || rc < 0 ? ENOMEM : 0;
	return errno == 0;
}

const struct events *
probe_events(const struct probe *p)
{
	return p->events;
}

bool
probe_run(struct probe *p, probe_sample_fn sample, probe_sample_fn progress,
	  events_report_fn report, void *arg)
{
	const struct fabric_params *params = &scenario_of(p)->fabric;
	uint64_t next_sample_ns = params->sample_ns;
	uint64_t progress_step_ns = params->duration_ns / 100 + 1;
	uint64_t next_progress_ns = progress != NULL ? progress_step_ns : NEVER_NS;

	p->events = events_create(p->net, report, arg);
	if (p->events == NULL)
		return false;
	if (params->measure_from_ns == 0)
		open_window(p);
	for (uint64_t now = 0; now < params->duration_ns;) {
		now = next_stop_ns(p, next_sample_ns, next_progress_ns);
		if (run_to(p, now) < 0 || !sample_switches(p, now))
			return false;
		if (now == params->measure_from_ns) {
			if (!probe_gather_nodes(p, true))
				return false;
			open_window(p);
		}
		if ((now >= p->next_messages_ns || now == params->duration_ns) &&
		    !take_messages(p, now))
			return false;
		if (now == next_sample_ns || now == params->duration_ns) {
			if (!take_sample(p, sample, arg, now))
				return false;
			next_sample_ns = after_sample_ns(p, now);
		}
		if (progress != NULL && (now >= next_progress_ns || now == params->duration_ns)) {
			if (!agree(p, progress(arg, p, now)))
				return false;
			next_progress_ns = now + progress_step_ns;
		}
	}
	return take_not_ended(p, params->duration_ns) && probe_gather_end(p);
}

const struct flow_sample *
probe_flow_sample(const struct probe *p, uint32_t flow)
{
	return &p->samples[flow];
}

uint64_t
probe_queue_peak_bytes(const struct probe *p, uint32_t sw, uint16_t port, uint8_t queue)
{
	const struct probe_queue *q = &p->queues[p->first_queue[sw] + port];
	uint64_t bytes = sw_queue_bytes(q->node, port, queue);

	return queue == q->queue ? max_u64(q->peak_bytes, bytes) : bytes;
}

struct net *
probe_net(const struct probe *p)
{
	return p->net;
}
