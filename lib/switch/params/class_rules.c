/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves profile names, and checks the rules of single classes. */
#include <inttypes.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "switch/params/sw_params.h"

#define NO_PROFILE UINT8_MAX
#define NS_PER_M 5u /* rule of thumb; copper 4.76, fibre 5.13 */

static bool
is_default(const char *name)
{
	return name[0] == '\0' || strcmp(name, SW_PROFILE_DEFAULT) == 0;
}

static const struct wred_params *
find_wred(const struct sw_params *params, const char *name)
{
	for (unsigned int i = 0; i < params->n_wred_profiles; i++) {
		if (strcmp(params->wred_profiles[i].name, name) == 0)
			return &params->wred_profiles[i].params;
	}
	return NULL;
}

const struct wred_params *
sw_queue_wred(const struct sw_params *params, uint16_t port, uint8_t queue)
{
	const char *name = params->queues[port][queue].wred_profile;
	const struct wred_params *wred;

	if (is_default(name))
		wred = params->wred_queues >> queue & 1 ? &params->wred : NULL;
	else
		wred = find_wred(params, name);
	return wred != NULL && wred->wred_green_enable ? wred : NULL;
}

bool
sw_queue_marks(const struct sw_params *params, uint16_t port, uint8_t queue)
{
	const struct wred_params *wred = sw_queue_wred(params, port, queue);

	return wred != NULL && wred->ecn == WRED_ECN_ALL;
}

/* @return 0: the profile of the class; n: profiles[n - 1]. */
static uint8_t
buffer_profile_number(const struct mmu_params *mmu, const char *name)
{
	if (is_default(name))
		return 0;
	for (unsigned int i = 0; i < mmu->n_profiles && i < MMU_MAX_PROFILES; i++) {
		if (strcmp(mmu->profile_names[i], name) == 0)
			return (uint8_t)(i + 1);
	}
	return NO_PROFILE;
}

void
sw_class_resolve(struct sw_params *params)
{
	struct mmu_params *mmu = &params->mmu;

	for (uint16_t port = 0; port < params->n_ports && port < SW_MAX_PORTS; port++) {
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			mmu->pg_profile[port][i] =
				buffer_profile_number(mmu, params->pgs[port][i].buffer_profile);
			mmu->queue_profile[port][i] =
				buffer_profile_number(mmu, params->queues[port][i].buffer_profile);
		}
	}
}

static int
queue_check(const struct sw_params *params, uint16_t port, uint8_t queue, char *why,
	    unsigned int why_size)
{
	const struct sw_queue_params *q = &params->queues[port][queue];
	const struct wred_params *wred = sw_queue_wred(params, port, queue);
	const char *fault = NULL;

	if (!is_default(q->wred_profile) && strcmp(q->wred_profile, SW_PROFILE_NONE) != 0 &&
	    find_wred(params, q->wred_profile) == NULL)
		fault = "wred_profile is not the name of a [wred NAME]";
	else if (params->mmu.queue_profile[port][queue] == NO_PROFILE)
		fault = "buffer_profile is not the name of a [buffer_profile NAME]";
	else if (params->mmu.pg_profile[port][queue] == NO_PROFILE)
		fault = "pg's buffer_profile is not the name of a [buffer_profile NAME]";
	else if (q->marking != MARK_WRED && (wred == NULL || wred->ecn != WRED_ECN_ALL))
		fault = "marking needs WRED with ecn = ecn_all on the queue";
	else if (q->max_rate_bps > 0 && q->max_rate_bps < q->min_rate_bps)
		fault = "min_rate_bps is above max_rate_bps";
	if (fault == NULL)
		return 0;
	return params_refuse(why, why_size, "port %u, class %u, %s", port, queue, fault);
}

static int
port_check(const struct sw_params *params, uint16_t port, char *why, unsigned int why_size)
{
	uint64_t min_sum_bps = 0;
	int rc = 0;

	for (uint8_t i = 0; rc == 0 && i < TM_CLASSES; i++) {
		min_sum_bps += params->queues[port][i].min_rate_bps;
		rc = queue_check(params, port, i, why, why_size);
	}
	if (rc == 0 && min_sum_bps > params->ports[port].shaper_rate_bps)
		rc = params_refuse(why, why_size,
				   "min_rate_bps of the queues of port %u is %" PRIu64
				   " together, above its shaper_rate_bps %" PRIu64,
				   port, min_sum_bps, params->ports[port].shaper_rate_bps);
	return rc;
}

int
sw_class_check(const struct sw_params *params, char *why, unsigned int why_size)
{
	int rc = 0;

	for (unsigned int i = 0; i < params->n_wred_profiles; i++) {
		const struct sw_wred_profile *profile = &params->wred_profiles[i];
		char fault[256];

		if (wred_params_check(&profile->params, fault, sizeof(fault)) != 0)
			return params_refuse(why, why_size, "%s: %s", profile->name, fault);
	}
	for (uint16_t port = 0; rc == 0 && port < params->n_ports; port++)
		rc = port_check(params, port, why, why_size);
	return rc;
}

/*
 * Longest frame of a port's lossless classes, with FCS: when a pause arrives, the peer may be
 * sending such a frame.
 */
static uint32_t
largest_lossless_frame(const struct sw_params *params, uint16_t port)
{
	const struct qos_map_params qos = sw_port_qos(params, port);
	uint32_t largest = 0;

	for (unsigned int tc = 0; tc < TM_CLASSES; tc++) {
		uint32_t mtu = params->tcs[tc].mtu_bytes;
		uint32_t frame = mtu > 0 ? mtu + SW_MTU_OVERHEAD_BYTES : UINT32_MAX;

		if (params->mmu.lossless_pgs[port] >> qos.tc_to_priority_group_map[tc] & 1)
			largest =
				(uint32_t)max_u64(largest, min_u64(frame, params->max_frame_bytes));
	}
	return largest;
}

/* SIGCOMM 2015 section 4: t_flight, per port and priority at 40G. */
#define PAPER_HEADROOM_BYTES 22400u

/* Longest frame that a port sends or receives. */
static uint32_t
longest_frame(const struct sw_params *params)
{
	return params->longest_frame_bytes == 0
		       ? params->max_frame_bytes
		       : (uint32_t)min_u64(params->longest_frame_bytes, params->max_frame_bytes);
}

struct pfc_headroom
sw_port_headroom(const struct sw_params *params, uint16_t port)
{
	const struct sw_port_params *p = &params->ports[port];
	struct pfc_link link = {
		.link_speed_bps = p->link_speed_bps,
		.cable_delay_ns = p->cable_delay_ns > 0 ? p->cable_delay_ns
							: (uint64_t)p->cable_length_m * NS_PER_M,
		.peer_response_ns = p->peer_response_ns,
		.peer_delay_ns = p->peer_delay_ns,
		.own_frame_bytes = longest_frame(params),
		.peer_frame_bytes = (uint32_t)min_u64(longest_frame(params),
						      largest_lossless_frame(params, port)),
		.cell_bytes = params->mmu.cell_bytes,
	};

	return pfc_headroom(&link);
}

/* Before sw_params_check() there may be more ports than rows. */
static uint16_t
ports_of(const struct mmu_params *mmu)
{
	return (uint16_t)min_u64(mmu->n_ports, MMU_MAX_PORTS);
}

/* Number of the port's lossless groups with xoff_bytes = auto. */
static unsigned int
auto_groups(const struct mmu_params *mmu, uint16_t port)
{
	unsigned int n = 0;

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		n += mmu->lossless_pgs[port] >> pg & 1 &&
		     mmu_pg_profile(mmu, port, pg)->xoff_bytes == MMU_XOFF_AUTO;
	return n;
}

/* Bytes of the buffer that keys give to groups: reserved bytes, and headroom that is a number. */
static uint64_t
given_bytes(const struct mmu_params *mmu)
{
	uint64_t sum = 0;

	for (uint16_t port = 0; port < ports_of(mmu); port++)
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			const struct buffer_profile *b = mmu_pg_profile(mmu, port, pg);

			sum += b->size_bytes;
			if (b->xoff_bytes != MMU_XOFF_AUTO)
				sum += mmu_pg_headroom(mmu, port, pg);
		}
	return sum;
}

/*
 * Most bytes for a group with xoff_bytes = auto: groups that need less leave the rest of their
 * share of half of the buffer to the others.
 */
static uint64_t
most_auto_bytes(const struct mmu_params *mmu)
{
	uint64_t left = sub_sat(mmu->buffer_bytes / 2, given_bytes(mmu)), most = 0, before;

	if (mmu->shared_headroom_pool_bytes > 0)
		return mmu->shared_headroom_pool_bytes;
	do {
		uint64_t less_bytes = 0, others = 0;

		before = most;
		for (uint16_t port = 0; port < ports_of(mmu); port++) {
			unsigned int groups = auto_groups(mmu, port);

			if (mmu->auto_xoff_bytes[port] <= most)
				less_bytes += groups * mmu->auto_xoff_bytes[port];
			else
				others += groups;
		}
		if (others > 0)
			most = max_u64(most, sub_sat(left, less_bytes) / others);
	} while (most > before);
	return most;
}

void
sw_headroom_resolve(struct sw_params *params)
{
	struct mmu_params *mmu = &params->mmu;
	uint64_t most;

	for (uint16_t port = 0; port < ports_of(mmu); port++)
		mmu->auto_xoff_bytes[port] =
			max_u64(sw_port_headroom(params, port).total_bytes, PAPER_HEADROOM_BYTES);
	most = max_u64(most_auto_bytes(mmu), PAPER_HEADROOM_BYTES);
	for (uint16_t port = 0; port < ports_of(mmu); port++)
		mmu->auto_xoff_bytes[port] = min_u64(mmu->auto_xoff_bytes[port], most);
}

struct sw_auto_headroom
sw_auto_headroom(const struct sw_params *params)
{
	const struct mmu_params *mmu = &params->mmu;
	struct sw_auto_headroom a = {0};

	for (uint16_t port = 0; port < params->n_ports; port++) {
		uint64_t bytes = mmu->auto_xoff_bytes[port];

		if (auto_groups(mmu, port) == 0)
			continue;
		if (a.least_bytes == 0 || bytes < a.least_bytes) {
			a.least_bytes = bytes;
			a.least_port = port;
		}
		if (bytes > a.most_bytes) {
			a.most_bytes = bytes;
			a.most_port = port;
		}
	}
	return a;
}

struct sw_short_headroom
sw_short_headroom(const struct sw_params *params)
{
	struct sw_short_headroom s = {0};

	for (uint16_t port = 0; port < params->n_ports; port++) {
		uint64_t needs = sw_port_headroom(params, port).total_bytes;

		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			uint64_t has = mmu_pg_headroom(&params->mmu, port, pg);

			if (!(params->mmu.lossless_pgs[port] >> pg & 1) || has >= needs)
				continue;
			if (s.groups++ == 0) {
				s.port = port;
				s.pg = pg;
				s.has_bytes = has;
				s.needs_bytes = needs;
			}
		}
	}
	return s;
}
