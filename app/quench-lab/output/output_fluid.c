/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output_fluid.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "quench-lab/output/output_file.h"

/*
 * Largest model, in hops, that runs together with the packet simulation: one step of one queue
 * takes as long as the simulation of one packet.
 */
#define MOST_HOPS 128

/* Notes that are printed for fixed points that the packet simulation does not reach. */
static const char *const notes[] = {
	[FLUID_NET_NEAR_END] = "p* is above half of Pmax: with packets, the queue oscillates and "
			       "sometimes reaches Kmax, where p jumps to 1. Then all flows cut "
			       "at the same time and the queue runs empty, so its mean is lower "
			       "than the model's: by 18 % at half of Pmax, by 39 to 47 % at two "
			       "thirds of Pmax",
	[FLUID_NET_BEYOND_SLOPE] = "p* is above Pmax: no queue length below Kmax gives the "
				   "marking probability that the flows need. Model and packets "
				   "oscillate around Kmax; with packets, all flows cut at the "
				   "same time there, so the mean queue is shorter than the "
				   "model's",
	[FLUID_NET_LARGE_CUT] = "one flow's cut takes more than half of queue*: with packets, the "
				"queue swings and is often empty, so its mean differs from the "
				"model's by 8 to 70 %",
};

int
lab_fluid_open(struct lab_fluid *fluid, const struct scenario *s, bool alone)
{
	const struct fabric_params *f = &s->fabric;

	*fluid = (struct lab_fluid){
		.topology = s->topology,
		.end_ns = alone ? f->duration_ns : min_u64(f->fluid_ns, f->duration_ns),
		.measure_from_ns = f->measure_from_ns,
	};
	fluid->partial = fluid->end_ns < f->duration_ns;
	if (fluid->end_ns == 0) {
		scenario_refuse(&fluid->fault, "fabric", "", "fluid_ns", "a time above 0");
		return 0;
	}
	fluid->net = fluid_net_create(s, alone ? 0 : MOST_HOPS, &fluid->fault);
	if (fluid->net == NULL && errno != ENOTSUP) {
		say_error("no memory for the fluid model");
		return -ENOMEM;
	}
	return 0;
}

void
lab_fluid_close(struct lab_fluid *fluid)
{
	fluid_net_destroy(fluid->net);
	fluid->net = NULL;
}

static const char *
node_name(const struct lab_fluid *fluid, const struct fluid_net_queue *q)
{
	return fluid->topology->switches[q->sw].name;
}

struct series {
	const struct lab_fluid *fluid;
	FILE *flows, *queues;
	bool (*go_on)(void *arg, uint64_t now_ns, uint64_t end_ns);
	void *arg;
};

static bool
write_rows(void *arg, const struct fluid_net *net, uint64_t now_ns)
{
	struct series *out = arg;

	if (!out->go_on(out->arg, now_ns, out->fluid->end_ns))
		return false;
	if (out->flows == NULL || out->queues == NULL)
		return true;
	for (uint32_t i = 0; i < fluid_net_flow_count(net); i++) {
		const struct fluid_net_flow *f = fluid_net_flow(net, i);

		fprintf(out->flows, "%" PRIu64 ",%s,%.0f,%.0f,%.0f,%.6f\n", now_ns, f->name,
			f->wire_rate_bps, f->now.rate_bps, f->now.target_rate_bps, f->now.alpha);
	}
	for (uint32_t i = 0; i < fluid_net_queue_count(net); i++) {
		const struct fluid_net_queue *q = fluid_net_queue(net, i);

		fprintf(out->queues, "%" PRIu64 ",%s,%u,%u,%.0f,%.9f\n", now_ns,
			node_name(out->fluid, q), q->port, q->queue, q->bytes, q->mark);
	}
	return true;
}

int
lab_fluid_run(struct lab_fluid *fluid, const char *dir,
	      bool (*go_on)(void *arg, uint64_t now_ns, uint64_t end_ns), void *arg)
{
	struct series out = {.fluid = fluid, .go_on = go_on, .arg = arg};
	int flows = 0, queues = 0;
	bool whole;

	if (fluid->net == NULL)
		return 0;
	if (fluid->partial)
		say("fluid model: the first %.3f ms, as fluid_ns of [fabric] says",
		    (double)fluid->end_ns / NS_PER_MS);
	if (dir != NULL) {
		out.flows = output_open(dir, "fluid_flows.csv",
					"time_ns,flow,wire_rate_bps,rp_rate_bps,rp_target_rate_bps,"
					"alpha");
		out.queues = output_open(dir, "fluid_queues.csv",
					 "time_ns,node,port,queue,queue_bytes,mark_probability");
		if (out.flows == NULL || out.queues == NULL)
			flows = -EIO;
	}
	whole = fluid_net_run(fluid->net, fluid->end_ns, write_rows, &out);
	fluid->ran = fluid->end_ns > fluid->measure_from_ns;
	if (dir != NULL) {
		if (output_close(out.flows, dir, "fluid_flows.csv") < 0)
			flows = -EIO;
		queues = output_close(out.queues, dir, "fluid_queues.csv");
	}
	if (flows < 0 || queues < 0)
		return -EIO;
	return whole ? 0 : -EINTR;
}

static uint64_t
whole(double value)
{
	return (uint64_t)(value + 0.5);
}

/* f is NULL with names_only. */
static void
walk_flow(struct walk *w, const struct lab_fluid *fluid, const struct fluid_net_flow *f)
{
	w->object = "fluid_flow";
	WALK(text, w, KEY, "name", "name of the flow", f->name);
	WALK(number, w, GAUGE, "loop_delay_ns", "delay of its control loop", f->loop_delay_ns);
	walk_enter(w, "fixed_point", "");
	WALK(number, w, GAUGE, "rate_bps", "its rate (R_C)", whole(f->point.rate_bps));
	WALK(number, w, GAUGE, "target_rate_bps", "its target rate (R_T)",
	     whole(f->point.target_rate_bps));
	WALK(real, w, GAUGE, "alpha", "its alpha", f->point.alpha);
	walk_leave(w);
	w->optional = true;
	if (w->names_only || fluid->ran) {
		WALK(number, w, GAUGE, "wire_rate_bps", "mean rate on the wire over time",
		     whole(f->mean_rate_bps));
		WALK(number, w, GAUGE, "wire_rate_min_bps", "its minimum", whole(f->min_rate_bps));
		WALK(number, w, GAUGE, "wire_rate_max_bps", "its maximum", whole(f->max_rate_bps));
	}
	w->optional = false;
}

static void
walk_fixed_point(struct walk *w, const struct fluid_net_queue *q)
{
	bool has_margin = !w->names_only && q->has_margin;

	walk_enter(w, "fixed_point", "");
	WALK(flag, w, GAUGE, "interior", "whether the queue is between Kmin and Kmax",
	     q->point.interior);
	WALK(real, w, GAUGE, "mark_probability", "marking probability (p*)", q->point.mark);
	WALK(number, w, GAUGE, "queue_bytes", "length of the queue", whole(q->point.queue_bytes));
	walk_maybe_real(w, WALK_GAUGE, "phase_margin_deg",
			"phase margin of the control loop; below 0 the queue oscillates; null: "
			"there is none",
			has_margin ? q->margin.phase_deg : 0, !has_margin);
	walk_maybe_real(w, WALK_GAUGE, "crossover_hz", "frequency at which the loop's gain is 1",
			has_margin ? q->margin.crossover_hz : 0, !has_margin);
	walk_maybe_text(w, WALK_KEY, "note",
			"why packets will not settle at that length; null: they will",
			w->names_only ? NULL : notes[q->end]);
	walk_leave(w);
}

/* q is NULL with names_only. */
static void
walk_queue(struct walk *w, const struct lab_fluid *fluid, const struct fluid_net_queue *q)
{
	w->object = "fluid_queue";
	WALK(text, w, KEY, "node", "the switch", node_name(fluid, q));
	WALK(number, w, KEY, "port", "number of the port", q->port);
	WALK(number, w, KEY, "queue", "number of the queue", q->queue);
	walk_fixed_point(w, q);
	w->optional = true;
	if (w->names_only || fluid->ran) {
		WALK(number, w, GAUGE, "queue_mean_bytes", "mean length over time",
		     whole(q->mean_bytes));
		WALK(number, w, GAUGE, "queue_min_bytes", "its minimum", whole(q->min_bytes));
		WALK(number, w, GAUGE, "queue_max_bytes", "its maximum", whole(q->max_bytes));
	}
	w->optional = false;
}

static void
walk_refused(struct walk *w, const struct scenario_fault *fault)
{
	char text[512] = "";

	if (fault != NULL)
		snprintf(text, sizeof(text), "[%s]%s%s: expected %s", fault->section,
			 fault->key ? " " : "", fault->key ? fault->key : "", fault->expected);
	walk_text(w, WALK_KEY, "refused", "why there is no model; then there is no other key",
		  text);
}

static void
walk_model(struct walk *w, const struct lab_fluid *fluid)
{
	uint32_t queues = w->names_only ? 1 : fluid_net_queue_count(fluid->net);
	uint32_t flows = w->names_only ? 1 : fluid_net_flow_count(fluid->net);

	WALK(number, w, GAUGE, "step_ns", "step of the integration", fluid_net_step_ns(fluid->net));
	WALK(number, w, GAUGE, "end_ns", "simulated time of the model", fluid->end_ns);
	walk_list(w, "queues");
	for (uint32_t i = 0; i < queues; i++) {
		walk_item(w, "queues");
		walk_queue(w, fluid, w->names_only ? NULL : fluid_net_queue(fluid->net, i));
		walk_leave(w);
	}
	walk_list(w, "flows");
	for (uint32_t i = 0; i < flows; i++) {
		walk_item(w, "flows");
		walk_flow(w, fluid, w->names_only ? NULL : fluid_net_flow(fluid->net, i));
		walk_leave(w);
	}
}

void
lab_fluid_walk(struct walk *w, const struct lab_fluid *fluid)
{
	walk_enter(w, "fluid", "");
	w->object = "fluid";
	w->optional = true;
	if (w->names_only || fluid->net == NULL)
		walk_refused(w, w->names_only ? NULL : &fluid->fault);
	if (w->names_only || fluid->net != NULL)
		walk_model(w, fluid);
	walk_leave(w);
}

/* With several switches, show only queues that hold something. */
static bool
is_shown(const struct lab_fluid *fluid, const struct fluid_net_queue *q)
{
	return fluid->topology->n_switches == 1 || q->point.mark > 0 ||
	       (fluid->ran && q->max_bytes > 0);
}

static void
queue_table(FILE *out, const struct lab_fluid *fluid)
{
	uint32_t left_out = 0;
	bool noted[ARRAY_LEN(notes)] = {false};

	fprintf(out, "\n%-24s %9s %9s %9s %9s %9s %9s\n", "fluid model, queue", "p*", "queue*",
		"margin", "mean", "least", "most");
	fprintf(out, "%-24s %9s %9s %9s %9s %9s %9s\n", "", "%", "KB", "degrees", "KB", "KB", "KB");
	for (uint32_t i = 0; i < fluid_net_queue_count(fluid->net); i++) {
		const struct fluid_net_queue *q = fluid_net_queue(fluid->net, i);
		char name[48];

		if (!is_shown(fluid, q)) {
			left_out++;
			continue;
		}
		snprintf(name, sizeof(name), "%s port %u queue %u", node_name(fluid, q), q->port,
			 q->queue);
		fprintf(out, "%-24s %9.4f %9.2f", name, q->point.mark * 100,
			q->point.queue_bytes / 1e3);
		if (q->has_margin)
			fprintf(out, " %9.1f", q->margin.phase_deg);
		else
			fprintf(out, " %9s", "-");
		if (fluid->ran)
			fprintf(out, " %9.2f %9.2f %9.2f", q->mean_bytes / 1e3, q->min_bytes / 1e3,
				q->max_bytes / 1e3);
		fprintf(out, "%s\n", notes[q->end] != NULL ? "  *" : "");
		noted[q->end] = true;
	}
	if (left_out > 0)
		fprintf(out, "%" PRIu32 " other queues stay empty\n", left_out);
	for (size_t i = 0; i < ARRAY_LEN(notes); i++)
		if (noted[i] && notes[i] != NULL)
			fprintf(out, "* %s\n", notes[i]);
}

void
lab_fluid_table(FILE *out, const struct lab_fluid *fluid)
{
	if (fluid->net == NULL)
		return;
	queue_table(out, fluid);
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s\n", "fluid model, flow", "rate*", "target*",
		"alpha*", "wire", "least", "most");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s\n", "", "Gb/s", "Gb/s", "", "Gb/s", "Gb/s",
		"Gb/s");
	for (uint32_t i = 0; i < fluid_net_flow_count(fluid->net); i++) {
		const struct fluid_net_flow *f = fluid_net_flow(fluid->net, i);

		fprintf(out, "%-20s %9.3f %9.3f %9.4f", f->name, f->point.rate_bps / 1e9,
			f->point.target_rate_bps / 1e9, f->point.alpha);
		if (fluid->ran)
			fprintf(out, " %9.3f %9.3f %9.3f", f->mean_rate_bps / 1e9,
				f->min_rate_bps / 1e9, f->max_rate_bps / 1e9);
		fputc('\n', out);
	}
}
