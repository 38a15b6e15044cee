/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/config/threshold_advice.h"

#include <inttypes.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "switch/params/port_names.h"
#include "tm/buffer/thresholds.h"

static double
kb(uint64_t bytes)
{
	return (double)bytes / 1000;
}

static bool
same_link(const struct sw_port_params *a, const struct sw_port_params *b)
{
	return a->link_speed_bps == b->link_speed_bps && a->cable_length_m == b->cable_length_m &&
	       a->peer_response_ns == b->peer_response_ns && a->cable_delay_ns == b->cable_delay_ns;
}

/* The smallest headroom of the port's lossless groups; 0: it has none. */
static uint64_t
least_headroom(const struct sw_params *params, uint16_t port)
{
	uint64_t least = UINT64_MAX;

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		if (params->mmu.lossless_pgs[port] >> pg & 1)
			least = min_u64(least, mmu_pg_headroom(&params->mmu, port, pg));
	return least == UINT64_MAX ? 0 : least;
}

static void
print_port(FILE *out, const struct sw_params *params, uint16_t first, uint16_t last)
{
	const struct sw_port_params *p = &params->ports[first];
	struct pfc_headroom h = sw_port_headroom(params, first);
	uint64_t has = least_headroom(params, first);
	char ports[16];

	snprintf(ports, sizeof(ports), first == last ? "%u" : "%u-%u", first, last);
	fprintf(out,
		"  %-6s %7.3g Gb/s %6u m %8" PRIu64 " %6" PRIu64 " %8.1f %9" PRIu64 " %6" PRIu64
		" %11.3f %11.3f  %s\n",
		ports, (double)p->link_speed_bps / 1e9, p->cable_length_m, h.frames_bytes,
		h.pause_bytes, (double)h.cable_bits / 8, h.response_bytes, h.cells_bytes,
		kb(h.total_bytes), kb(has), has >= h.total_bytes ? "fits" : "above its xoff_bytes");
}

/*
 * Print a line for each group of ports with equal links.
 * @return headroom of one priority, summed over all ports.
 */
static uint64_t
print_headroom(FILE *out, const struct sw_params *params)
{
	uint64_t sum_bytes = 0;
	uint16_t first = 0;
	char configured[48];

	fprintf(out,
		"Headroom (t_flight) that one lossless priority needs, in bytes, for frames up to "
		"%u bytes:\n"
		"  ports        speed    cable   frames  pause    cable  response  cells    sum (KB)   xoff (KB)\n",
		params->max_frame_bytes);
	for (uint16_t i = 0; i < params->n_ports; i++) {
		sum_bytes += sw_port_headroom(params, i).total_bytes;
		if (i + 1 < params->n_ports &&
		    same_link(&params->ports[i], &params->ports[i + 1]) &&
		    least_headroom(params, i) == least_headroom(params, (uint16_t)(i + 1)))
			continue;
		print_port(out, params, first, i);
		first = (uint16_t)(i + 1);
	}
	if (params->mmu.lossless.xoff_bytes == MMU_XOFF_AUTO)
		snprintf(configured, sizeof(configured), "auto, xoff in the table,");
	else
		snprintf(configured, sizeof(configured), "%.3f KB",
			 kb(params->mmu.lossless.xoff_bytes));
	fprintf(out, "  configured: xoff_bytes = %s for each group without its own profile, %s\n\n",
		configured,
		params->mmu.shared_headroom_pool_bytes > 0 ? "taken from one shared headroom pool"
							   : "reserved per group");
	return sum_bytes;
}

static void
print_thresholds(FILE *out, const struct sw_params *params, const char *title,
		 uint64_t shared_bytes)
{
	uint8_t n_prios = (uint8_t)mmu_params_most_lossless(&params->mmu);
	struct thresholds t =
		thresholds(shared_bytes, params->n_ports, n_prios, params->mmu.lossless.dynamic_th);

	fprintf(out, "%s: shared buffer B = %.3f KB\n", title, kb(shared_bytes));
	fprintf(out, "  static   t_PFC <= %.3f KB, t_ECN < %.3f KB%s\n", kb(t.static_pfc_bytes),
		kb(t.static_ecn_bytes),
		t.static_ecn_bytes < params->max_frame_bytes
			? ": less than a frame, so marking is not certain to precede pauses"
			: "");
	fprintf(out, "  dynamic  t_PFC = %g x (%.3f KB - bytes in use), t_ECN < %.3f KB\n",
		(double)t.dynamic_pfc_bytes / (double)max_u64(shared_bytes, 1), kb(shared_bytes),
		kb(t.dynamic_ecn_bytes));
}

/* Of an mbuf beside its frame: headers, headroom, and the mbuf of a clone. */
#define MBUF_BYTES 640u

static void
print_packets(FILE *out, const struct sw_params *params)
{
	struct mmu_budget b = mmu_params_budget(&params->mmu);
	uint64_t shared = b.shared_packets + b.lossy_packets;

	fprintf(out,
		"\nPacket memory: %u mbufs for queued frames. Shared: %" PRIu64
		" mbufs, one per %" PRIu64 " bytes.\nHeadroom and size_bytes: %" PRIu64
		" mbufs, one per frame of %u bytes. A group may use the same share of\n"
		"the mbufs as of the shared bytes. At that limit a lossless group sends XOFF, and a "
		"lossy group\ndrops (packet_memory). With room for frames of %u bytes each, they take "
		"%.0f MB;\ndevices, shards and copies need more.\n",
		params->mmu.packets, shared, (b.shared_bytes + b.lossy_bytes) / max_u64(shared, 1),
		b.reserved_packets + b.headroom_packets, MMU_SHORTEST_FRAME_BYTES,
		params->max_frame_bytes,
		(double)params->mmu.packets * (params->max_frame_bytes + MBUF_BYTES) / 1e6);
}

/* A lossless group, and the length (t_ECN) at which each of the queues of all ports holds so much
 * that the group may be paused. */
struct ecn_bound {
	uint64_t bytes; /* UINT64_MAX: it is never paused */
	uint16_t port;
	uint8_t pg;
};

static uint64_t
profile_bound_bytes(const struct sw_params *params, const struct buffer_profile *profile)
{
	uint8_t n_prios = (uint8_t)mmu_params_most_lossless(&params->mmu);
	struct mmu_budget budget = mmu_params_budget(&params->mmu);

	if (!profile->dynamic)
		return profile->static_th_bytes > 0 ? profile->static_th_bytes / params->n_ports
						    : UINT64_MAX;
	return thresholds(budget.shared_bytes, params->n_ports, n_prios, profile->dynamic_th)
		.dynamic_ecn_bytes;
}

static struct ecn_bound
least(struct ecn_bound a, struct ecn_bound b)
{
	return b.bytes < a.bytes ? b : a;
}

/* The group of a traffic class that is paused first: ports may have maps of their own. */
static struct ecn_bound
class_bound(const struct sw_params *params, uint8_t tc)
{
	struct ecn_bound first = {.bytes = UINT64_MAX};

	for (uint16_t port = 0; port < params->n_ports; port++) {
		uint8_t pg = sw_port_qos(params, port).tc_to_priority_group_map[tc];

		if (params->mmu.lossless_pgs[port] >> pg & 1)
			first = least(
				first,
				(struct ecn_bound){
					profile_bound_bytes(params,
							    mmu_pg_profile(&params->mmu, port, pg)),
					port, pg});
	}
	return first;
}

/* The group that is paused first of those whose classes leave by a queue of a port. */
static struct ecn_bound
queue_bound(const struct sw_params *params, uint16_t port, uint8_t queue,
	    const struct ecn_bound of_class[TM_CLASSES])
{
	const struct qos_map_params qos = sw_port_qos(params, port);
	struct ecn_bound first = {.bytes = UINT64_MAX};

	for (uint8_t tc = 0; tc < TM_CLASSES; tc++)
		if (qos.tc_to_queue_map[tc] == queue)
			first = least(first, of_class[tc]);
	return first;
}

static bool
is_used_lossless(const struct sw_params *params, const struct buffer_profile *profile)
{
	for (uint16_t port = 0; port < params->n_ports; port++)
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
			if ((params->mmu.lossless_pgs[port] >> pg & 1) &&
			    mmu_pg_profile(&params->mmu, port, pg) == profile)
				return true;
	return false;
}

/* Bounds for the lossless groups that have a profile of their own. */
static void
print_profiles(FILE *out, const struct sw_params *params)
{
	for (unsigned int i = 0; i < params->mmu.n_profiles; i++) {
		const struct buffer_profile *b = &params->mmu.profiles[i];
		uint64_t bound = profile_bound_bytes(params, b);

		if (!is_used_lossless(params, b) || bound == UINT64_MAX)
			continue;
		fprintf(out, "Groups with [buffer_profile %s]: t_ECN < %.3f KB\n",
			params->mmu.profile_names[i], kb(bound));
	}
}

static const char *
yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

/* The curve of the first lossless queue that has one. */
static const struct wred_params *
first_lossless_wred(const struct sw_params *params)
{
	const struct wred_params *wred = NULL;

	for (unsigned int i = 0; wred == NULL && i < params->n_ports * TM_CLASSES; i++) {
		uint16_t port = (uint16_t)(i / TM_CLASSES);
		uint8_t queue = i % TM_CLASSES;

		if (params->mmu.lossless_queues[port] >> queue & 1)
			wred = sw_queue_wred(params, port, queue);
	}
	return wred;
}

/* The vendors' rule xON < WRED min < WRED max < xOFF, for an empty buffer. */
static void
print_rule_of_thumb(FILE *out, const struct sw_params *params)
{
	const struct buffer_profile *b = &params->mmu.lossless;
	uint64_t shared_bytes = mmu_params_budget(&params->mmu).shared_bytes;
	uint64_t xoff = b->dynamic ? thresholds(shared_bytes, 1, 1, b->dynamic_th).dynamic_pfc_bytes
				   : b->static_th_bytes;
	uint64_t xon = max_u64(b->xon_bytes, sub_sat(xoff, b->xon_offset_bytes));
	const struct wred_params *wred = first_lossless_wred(params);
	uint64_t min, max;

	if (wred == NULL)
		return;
	min = wred->green_min_threshold_bytes;
	max = wred->green_max_threshold_bytes;

	fprintf(out,
		"\nFor information: the vendors' rule xON < WRED min < WRED max < xOFF, for an "
		"otherwise empty buffer:\n"
		"  xON %.3f KB, WRED min %.3f KB, WRED max %.3f KB, xOFF %.3f KB\n"
		"  xON < min: %s; min <= max: %s; max < xOFF: %s\n"
		"The rule compares different quantities: xON and xOFF count the queued bytes that "
		"one port received,\nin all egress queues; WRED counts the bytes of one egress "
		"queue, from all ports. t_ECN above takes both\ninto account (doc/buffer.md).\n",
		kb(xon), kb(min), kb(max), kb(xoff), yes_no(xon < min), yes_no(min <= max),
		yes_no(max < xoff));
}

void
thresholds_print(FILE *out, const struct sw_params *params)
{
	struct mmu_budget budget = mmu_params_budget(&params->mmu);
	uint64_t n_prios = mmu_params_most_lossless(&params->mmu);
	uint64_t needed_bytes;

	if (n_prios == 0) {
		fprintf(out,
			"No priority is lossless (pfc_enable, pfc_generate): no headroom is needed.\n");
		return;
	}
	fprintf(out,
		"Buffer %.3f KB, %u ports, %" PRIu64 " lossless %s, dynamic_th = %d (limit %g x "
		"free shared bytes; the paper's beta: %g)\n\n",
		kb(params->mmu.buffer_bytes), params->n_ports, n_prios,
		n_prios == 1 ? "priority" : "priorities", params->mmu.lossless.dynamic_th,
		(double)thresholds(1 << 8, 1, 1, params->mmu.lossless.dynamic_th)
				.dynamic_pfc_bytes /
			256,
		(double)thresholds(1 << 8, 1, 1, params->mmu.lossless.dynamic_th)
				.dynamic_pfc_bytes /
			32);
	needed_bytes = n_prios * print_headroom(out, params);
	print_thresholds(out, params, "With the configured headroom", budget.shared_bytes);
	if (params->mmu.shared_headroom_pool_bytes == 0)
		print_thresholds(
			out, params, "With the headroom of the table above",
			sub_sat(params->mmu.buffer_bytes, budget.reserved_bytes + needed_bytes));
	print_profiles(out, params);
	print_packets(out, params);
	print_rule_of_thumb(out, params);
}

/* @return the first port where the lossless queue's marking begins at or above its bound, or -1. */
static int
late_port(const struct sw_params *params, uint8_t queue,
	  const struct ecn_bound of_class[TM_CLASSES], struct ecn_bound *bound, uint64_t *min_bytes)
{
	for (uint16_t port = 0; port < params->n_ports; port++) {
		const struct wred_params *wred = sw_queue_wred(params, port, queue);

		if (!(params->mmu.lossless_queues[port] >> queue & 1) || wred == NULL ||
		    wred->ecn != WRED_ECN_ALL)
			continue;
		*min_bytes = wred->ecn_green_max_threshold_bytes > 0
				     ? wred->ecn_green_min_threshold_bytes
				     : wred->green_min_threshold_bytes;
		*bound = queue_bound(params, port, queue, of_class);
		if (*min_bytes >= bound->bytes)
			return port;
	}
	return -1;
}

/* A lossless group with less headroom than its port needs loses frames at a pause. */
static void
warn_of_headroom(const struct sw_params *params)
{
	struct sw_short_headroom s = sw_short_headroom(params);
	char others[48] = "";

	if (s.groups == 0)
		return;
	if (s.groups > 1)
		snprintf(others, sizeof(others), "; so in %u groups in all", s.groups);
	say_warning("port %s, lossless group %u: xoff_bytes = %" PRIu64 ", but %" PRIu64
		    " bytes may arrive after a pause: frames may be lost%s "
		    "(--thresholds, doc/buffer.md)",
		    sw_port_text(params, s.port).text, s.pg, s.has_bytes, s.needs_bytes, others);
}

/* The default of xon_bytes: below it, nobody has asked for more. */
#define DEFAULT_XON_BYTES 1248u

/* XON is at the higher of two thresholds: an xon_bytes that was set may be the lower one. */
static void
warn_of_xon(const struct buffer_profile *b, const char *name)
{
	uint64_t by_offset_bytes = sub_sat(b->static_th_bytes, b->xon_offset_bytes);

	if (b->dynamic || b->xon_bytes <= DEFAULT_XON_BYTES || b->xon_bytes >= by_offset_bytes)
		return;
	say_warning("[buffer_profile %s] xon_bytes = %" PRIu64
		    " has no effect: XON is already at static_th_bytes - xon_offset_bytes = "
		    "%" PRIu64 ". For XON at xon_bytes, set xon_offset_bytes = %" PRIu64
		    " (doc/buffer.md)",
		    name, b->xon_bytes, by_offset_bytes, b->static_th_bytes - b->xon_bytes);
}

void
thresholds_warn(const struct sw_params *params)
{
	struct ecn_bound of_class[TM_CLASSES], bound;

	warn_of_headroom(params);
	warn_of_xon(&params->mmu.lossless, "lossless");
	for (unsigned int i = 0; i < params->mmu.n_profiles; i++)
		warn_of_xon(&params->mmu.profiles[i], params->mmu.profile_names[i]);
	for (uint8_t tc = 0; tc < TM_CLASSES; tc++)
		of_class[tc] = class_bound(params, tc);
	for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
		uint64_t min_bytes;
		int port = late_port(params, queue, of_class, &bound, &min_bytes);

		if (port >= 0)
			say_warning("port %s, queue %u: marking begins above %" PRIu64
				    " bytes, but port %s, lossless group %u, whose frames fill the "
				    "queues of all %u ports, may be paused at %" PRIu64
				    " bytes per queue (--thresholds, doc/buffer.md)",
				    sw_port_text(params, (uint16_t)port).text, queue, min_bytes,
				    sw_port_text(params, bound.port).text, bound.pg,
				    params->n_ports, bound.bytes);
	}
}
