/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a small fabric: a scenario file, which quench-lab runs as well, by the same code.
 *
 * A step is a section of the file: [fabric], [switch], [nic] and on, a [flow NAME] or an
 * [event NAME]. A random one (fabric_make.c) has three parts: in the first all that an [event] can
 * do happens and ends, in the second every flow has to go on, and in the third all flows are
 * stopped and what has begun must end. fabric_plan() finds out from the file whether it has these
 * parts: one that was shortened or changed may have none, and is asked only for what must hold at
 * any time (fabric_watch.c). One in four, by the seed of [fabric], is lived once more with nobody
 * who looks: the digest must be the same.
 */
#include "fabric_life.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "quench-lab/scenario/event_set.h"

#define PAUSE_QUANTUM_BITS 512
/* Of a run without taps; the run with taps has one. */
#define ALONE_THREADS 3u

/* ---- what the file says ---- */

bool
fabric_read(const struct script *script, struct scenario *s, struct config_error *err)
{
	const struct scenario_override none = {0};
	struct config *cfg;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int rc;

	*s = (struct scenario){0};
	script_ini(script, f);
	fclose(f);
	cfg = config_open_text("life", text, size, err);
	rc = cfg == NULL ? -1 : scenario_read(cfg, &none, s, err);
	config_close(cfg);
	free(text);
	return rc == 0;
}

/* ".stopped=on" of flows and nothing else. */
static bool
is_stop(const struct event_params *e)
{
	const char *word = e->set, *stopped = ".stopped=on";

	if (e->action != EVENT_SET || e->for_ns > 0)
		return false;
	while (word != NULL) {
		const char *end = strchr(word, ','), *value = strstr(word, stopped);

		if (value == NULL || (end != NULL && value > end))
			return false;
		word = end == NULL ? NULL : end + 1;
	}
	return true;
}

static uint32_t
link_of(const struct scenario *s, const struct event_params *e)
{
	return topology_link_at(s->topology, e->at);
}

/* The other event that ends this one. */
static uint64_t
ended_by_ns(const struct scenario *s, const struct event_params *e)
{
	const int ends[] = {[EVENT_LINK_DOWN] = EVENT_LINK_UP,
			    [EVENT_TX_DISABLE] = EVENT_TX_ENABLE,
			    [EVENT_PAUSE_STORM] = EVENT_PAUSE_STORM_END};

	if (e->action != EVENT_LINK_DOWN && e->action != EVENT_TX_DISABLE &&
	    e->action != EVENT_PAUSE_STORM)
		return NEVER_NS;
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *other = &s->events[i];

		if (other->action == ends[e->action] && other->at_ns > e->at_ns &&
		    other->at.node == e->at.node && other->at.port == e->at.port)
			return other->at_ns;
	}
	return NEVER_NS;
}

static uint64_t
over_ns(const struct scenario *s, const struct event_params *e)
{
	if (e->action == EVENT_SEND && e->interval_ns + e->rate_bps > 0)
		return NEVER_NS;
	if (e->action == EVENT_SEND)
		return e->at_ns + e->count * NS_PER_US;
	if (!event_may_last(e->action) || is_stop(e))
		return e->at_ns;
	return e->for_ns > 0 ? e->at_ns + e->for_ns : ended_by_ns(s, e);
}

/* What may hold a link down: an event at its cable, or a restart of the switch at either end. */
enum holder { HELD_AT_CABLE, HELD_AT_A, HELD_AT_B, HOLDERS };

static bool
is_about(const struct scenario *s, const struct event_params *e, uint32_t link, enum holder by)
{
	const struct topology_link *l = &s->topology->links[link];

	if (by == HELD_AT_CABLE)
		return (e->action == EVENT_LINK_DOWN || e->action == EVENT_LINK_UP) &&
		       link_of(s, e) == link;
	return e->action == EVENT_SWITCH_RESTART &&
	       e->at.node == (by == HELD_AT_A ? l->a.node : l->b.node);
}

/* Of several events that overlap the first that ends lets it go. */
static bool
is_held(const struct scenario *s, uint32_t link, enum holder by, uint64_t at_ns)
{
	uint64_t last_ns = 0;
	bool held = false;

	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *e = &s->events[i];
		uint64_t end_ns = e->at_ns + e->for_ns;

		if (!is_about(s, e, link, by))
			continue;
		if (e->at_ns < at_ns && e->at_ns >= last_ns) {
			last_ns = e->at_ns;
			held = e->action != EVENT_LINK_UP;
		}
		if (e->for_ns > 0 && end_ns < at_ns && end_ns >= last_ns) {
			last_ns = end_ns;
			held = false;
		}
	}
	return held;
}

bool
fabric_link_is_down(const struct scenario *s, uint32_t link, uint64_t at_ns)
{
	for (enum holder by = HELD_AT_CABLE; by < HOLDERS; by++)
		if (is_held(s, link, by, at_ns))
			return true;
	return false;
}

/* ---- what follows from it ---- */

static uint64_t
slowest_bps(const struct scenario *s)
{
	uint64_t bps = UINT64_MAX;

	for (uint32_t i = 0; i < s->topology->n_links; i++)
		bps = min_u64(bps, s->topology->links[i].cable.rate_bps);
	return bps;
}

static uint64_t
time_of(uint64_t bytes, uint64_t bps)
{
	return bps == 0 ? 0 : mul_div(bytes, 8 * NS_PER_SEC, bps);
}

/* After the last fault: the longest pause, timeouts, full buffers, a packet at the least rate. */
static uint64_t
grace_ns(const struct scenario *s, bool is_lossless)
{
	const struct nic_params *nic = &s->nic;
	uint64_t bps = slowest_bps(s), grace = NS_PER_MS;
	uint64_t least_bps = nic->rp.rp_min_rate_bps;

	for (int i = CC_DCQCN + 1; i < CC_ALGORITHMS; i++)
		least_bps =
			min_u64(least_bps, cc_min_rate_bps((enum cc_algorithm)i, &nic->cc_params));
	grace += time_of(UINT16_MAX * PAUSE_QUANTUM_BITS / 8, bps);
	if (!is_lossless)
		grace += 4 * (4096ull << nic->local_ack_timeout);
	grace += 3 * time_of(8192, least_bps);
	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		grace += 2 * time_of(scenario_switch_params(s, i)->mmu.buffer_bytes, bps);
	if (nic->receiver.drain_rate_bps > 0)
		grace += 2 * time_of(nic->receiver.buffer_bytes, nic->receiver.drain_rate_bps);
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flows[i].max_recv_wr > 0)
			grace += 4 * s->flows[i].post_recv_ns + 4 * NS_PER_MS;
	for (uint32_t i = 0; i < s->topology->n_links; i++)
		grace += 4 * s->topology->links[i].cable.delay_ns;
	return grace;
}

/* Every fault that there is has an end, and the cables are nearly good without them. */
static uint64_t
calm_ns(const struct scenario *s)
{
	uint64_t calm = 0;

	for (uint32_t i = 0; i < s->n_events; i++)
		calm = max_u64(calm, over_ns(s, &s->events[i]) == NEVER_NS || is_stop(&s->events[i])
					     ? is_stop(&s->events[i]) ? calm : NEVER_NS
					     : over_ns(s, &s->events[i]));
	for (uint32_t i = 0; i < s->topology->n_links; i++) {
		const struct cable_params *c = &s->topology->links[i].cable.errors;

		if (c->loss_ppb[CABLE_FRAMES_ANY] > 1000000 || c->bit_errors_per_tbit > 10000000)
			return NEVER_NS;
	}
	if (s->nic.local_ack_timeout == 0)
		return NEVER_NS;
	return calm == NEVER_NS ? calm
				: add_sat(calm, s->fabric.reroute_after_ns == NEVER_NS
							? 0
							: s->fabric.reroute_after_ns);
}

/* The last event that sets something leaves no flow that may begin a message. */
static uint64_t
stop_ns(const struct scenario *s)
{
	const struct scenario *last = s;
	uint64_t first_ns = NEVER_NS, last_ns = 0;

	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *e = &s->events[i];

		if (e->action != EVENT_SET)
			continue;
		if (is_stop(e))
			first_ns = min_u64(first_ns, e->at_ns);
		if (e->at_ns + e->for_ns < last_ns)
			continue;
		last_ns = e->at_ns + e->for_ns;
		last = e->for_ns > 0 ? e->end.next : e->begin.next;
	}
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (!last->flows[i].stopped)
			return NEVER_NS;
	return first_ns;
}

/* A set that changes nothing that a buffer goes by. */
static bool
is_harmless(const struct event_params *e)
{
	static const char *const sections[] = {"rp.", "np.", "dctcp.", "timely.", "flow ", "wred."};

	if (strchr(e->set, ',') != NULL && !is_stop(e))
		return false;
	for (unsigned int i = 0; i < ARRAY_LEN(sections); i++)
		if (strncmp(e->set, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

static bool
loses_nothing(const struct event_params *e)
{
	switch (e->action) {
	case EVENT_TX_DISABLE:
	case EVENT_TX_ENABLE:
	case EVENT_PAUSE_STORM:
	case EVENT_PAUSE_STORM_END:
	case EVENT_SLOW_RECEIVER:
	case EVENT_CLEAR_WATERMARKS:
	case EVENT_CLEAR_COUNTERS:
	case EVENT_DUMP:
		return true;
	case EVENT_SET:
		return is_harmless(e);
	default:
		return false;
	}
}

/* What comes after XOFF was wanted: a frame is on the wire in front of it, it travels, the peer
 * ends a frame, and what is on the cable comes. */
static bool
has_headroom(const struct scenario *s, const struct sw_params *sw)
{
	uint64_t need = 0;

	for (uint32_t i = 0; i < s->topology->n_links; i++) {
		const struct fabric_cable *c = &s->topology->links[i].cable;

		need = max_u64(need, 2 * mul_div(c->delay_ns, c->rate_bps, 8 * NS_PER_SEC) +
					     5 * (4096 + 128));
	}
	return sw->mmu.lossless.xoff_bytes >= need && sw->mmu.shared_headroom_pool_bytes == 0 &&
	       sw->pfc_generate && sw->mmu.cell_bytes == 0 && sw->pfcwd.pfcwd == PFCWD_OFF &&
	       !sw->pfcwd.big_red_switch && sw->pfc.pfc_xoff_quanta >= 1000 &&
	       sw->pfc.pfc_refresh_pct <= 80 && sw->mmu.egress_lossless.static_th_bytes == 0 &&
	       !sw->mmu.egress_lossless.dynamic && !sw->wred.nonect_drop_in_lossless;
}

static bool
is_lossless(const struct scenario *s)
{
	struct sw_params *plain = malloc(sizeof(*plain));
	bool same;

	sw_params_default(plain, 1);
	same = memcmp(&plain->qos, &s->sw.qos, sizeof(plain->qos)) == 0;
	free(plain);
	for (uint32_t i = 0; i < s->topology->n_links; i++)
		same &= !cable_params_is_faulty(&s->topology->links[i].cable.errors);
	if (!same || s->nic.flow_control != NIC_FLOW_PFC ||
	    (s->nic.receiver.drain_rate_bps > 0 &&
	     s->nic.receiver.buffer_bytes < s->nic.receiver.xoff_bytes + 100000))
		return false;
	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		if (!has_headroom(s, scenario_switch_params(s, i)))
			return false;
	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flows[i].dscp >= 0 && s->flows[i].dscp != 26)
			return false;
	for (uint32_t i = 0; i < s->n_events; i++)
		if (!loses_nothing(&s->events[i]) ||
		    (s->events[i].action == EVENT_SLOW_RECEIVER &&
		     s->nic.receiver.buffer_bytes < s->nic.receiver.xoff_bytes + 100000))
			return false;
	return true;
}

struct fabric_plan
fabric_plan(const struct scenario *s)
{
	struct fabric_plan plan = {
		.calm_ns = calm_ns(s), .stop_ns = stop_ns(s), .is_lossless = is_lossless(s)};

	plan.grace_ns = grace_ns(s, plan.is_lossless);
	if (plan.stop_ns > s->fabric.duration_ns)
		plan.stop_ns = NEVER_NS;
	if (plan.calm_ns > s->fabric.duration_ns)
		plan.calm_ns = NEVER_NS;
	return plan;
}

/* ---- its run ---- */

struct run {
	const struct scenario *s;
	struct fabric_plan plan;
	struct net *net;
	struct probe *probe;
	uint64_t now_ns;
	bool told_progress;
};

/* The step of a failure is the event before it. */
static void
say_where(const struct run *run, uint64_t now_ns)
{
	static char line[64];
	uint64_t last_ns = 0;

	life_now_ns = now_ns;
	for (uint32_t i = 0; i < run->s->n_events; i++) {
		const struct event_params *e = &run->s->events[i];
		uint64_t end_ns = e->at_ns + e->for_ns;

		if (e->at_ns <= now_ns && e->at_ns >= last_ns) {
			last_ns = e->at_ns;
			snprintf(line, sizeof(line), "event %s", e->name);
		}
		if (e->for_ns > 0 && end_ns <= now_ns && end_ns >= last_ns) {
			last_ns = end_ns;
			snprintf(line, sizeof(line), "end of event %s", e->name);
		}
	}
	life_line = last_ns > 0 ? line : "(before any event)";
}

static bool
on_sample(void *arg, const struct probe *p, uint64_t now_ns)
{
	struct run *run = arg;

	(void)p;
	say_where(run, now_ns);
	run->now_ns = now_ns;
	fabric_watch_look(probe_events(run->probe), now_ns);
	return true;
}

static void
on_event(void *arg, const struct event_params *e, uint64_t now_ns)
{
	struct run *run = arg;
	bool ends = e->action == EVENT_SET && now_ns != e->at_ns;

	say_where(run, now_ns);
	run->now_ns = now_ns;
	if (now_ns >= run->plan.stop_ns && !run->told_progress) {
		run->told_progress = true;
		fabric_watch_progress(now_ns);
	}
	fabric_watch_look(probe_events(run->probe), now_ns);
	if (e->action == EVENT_SET)
		fabric_watch_set(ends ? e->end.next : e->begin.next, now_ns);
}

static struct net *
build(const struct scenario *s, uint32_t threads)
{
	char why[256];
	struct net *net = net_create(s, threads, NULL, why, sizeof(why));

	life_must("harness", net != NULL, "%s", why);
	return net;
}

static uint64_t
result_digest(const struct run *run)
{
	const struct fabric_params *f = &run->s->fabric;
	uint64_t digest, most_ppm;
	struct run_result r;

	life_must("memory", probe_result(run->probe, &r) == 0, "no results");
	/* A frame at each end of the window. */
	most_ppm = 1000000 + mul_div(2 * 16384 * 8, NS_PER_SEC, slowest_bps(run->s)) * 1000000 /
				     (f->duration_ns - f->measure_from_ns);
	for (uint32_t i = 0; i < r.n_queues; i++)
		life_must("pace",
			  r.queues[i].link_use_ppm <= most_ppm &&
				  r.queues[i].rx_link_use_ppm <= most_ppm,
			  "port %u of switch %u used %u and %u millionths of its link",
			  r.queues[i].port, r.queues[i].sw, r.queues[i].link_use_ppm,
			  r.queues[i].rx_link_use_ppm);
	life_must("count", r.jain_ppm <= 1000000, "the fairness is %u", r.jain_ppm);
	digest = r.digest;
	run_result_free(&r);
	return digest;
}

/* Longer than anything may take that has begun: timeouts with all retries, waits for a receiver. */
static void
rest(struct run *run)
{
	uint64_t until_ns = run->s->fabric.duration_ns + 2 * NS_PER_SEC +
			    16 * (4096ull << run->s->nic.local_ack_timeout);

	life_line = "(the end)";
	life_now_ns = until_ns;
	life_must("memory", fabric_run(net_fabric(run->net), until_ns) == 0, "a frame is lost");
	fabric_watch_look(probe_events(run->probe), until_ns);
	fabric_watch_rest();
}

static uint64_t
live_watched(const struct scenario *s)
{
	struct run run = {.s = s, .plan = fabric_plan(s), .net = build(s, 1)};
	uint64_t digest;

	run.probe = probe_create(run.net);
	fabric_watch(run.net, &run.plan);
	life_must("memory", probe_run(run.probe, on_sample, NULL, on_event, &run),
		  "the run ended before its end");
	digest = result_digest(&run);
	if (run.plan.calm_ns != NEVER_NS && run.plan.stop_ns != NEVER_NS)
		rest(&run);
	fabric_watch_end();
	probe_destroy(run.probe);
	net_destroy(run.net);
	return digest;
}

static uint64_t
live_alone(const struct scenario *s)
{
	struct run run = {.s = s, .net = build(s, ALONE_THREADS)};
	uint64_t digest;

	life_line = "(once more, with nobody who looks)";
	run.probe = probe_create(run.net);
	life_must("memory", probe_run(run.probe, NULL, NULL, NULL, NULL), "it ended before");
	digest = result_digest(&run);
	probe_destroy(run.probe);
	net_destroy(run.net);
	return digest;
}

static char *
printed(const struct scenario *s, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);

	scenario_print(f, s);
	fclose(f);
	return text;
}

/* What --check-config prints reads back the same. */
static void
check_print(const struct scenario *s)
{
	const struct scenario_override none = {0};
	struct config_error err = {.text = ""};
	struct scenario again = {0};
	size_t size, n;
	char *text = printed(s, &size), *second;
	struct config *cfg = config_open_text("printed", text, size, &err);

	life_must("print", cfg != NULL && scenario_read(cfg, &none, &again, &err) == 0,
		  "what is printed is refused: %s", err.text);
	second = printed(&again, &n);
	life_must("print", n == size && memcmp(text, second, n) == 0,
		  "what is printed reads back another way");
	config_close(cfg);
	scenario_free(&again);
	free(second);
	free(text);
}

static uint64_t
live(const struct script *script)
{
	struct config_error err;
	struct scenario s;
	uint64_t digest;

	/* A shorter file that is none: there is nothing to see. */
	if (!fabric_read(script, &s, &err))
		return 0;
	life_line = "(before it begins)";
	check_print(&s);
	digest = live_watched(&s);
	if (s.fabric.seed % 4 == 1) {
		uint64_t alone = live_alone(&s);

		life_must("digest", alone == digest,
			  "%016" PRIx64 ", and %016" PRIx64 " when somebody looks", alone, digest);
	}
	scenario_free(&s);
	return digest;
}

const struct life_kind life_fabric = {
	.name = "fabric",
	.help = "hosts and switches of a quench-lab scenario",
	.make = fabric_make,
	.live = live,
	.is_ini = true,
};
