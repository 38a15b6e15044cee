// SPDX-License-Identifier: BSD-3-Clause
#include "tm/buffer/mmu_params.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "base/numbers/fixed.h"

/* Keeps the product of ports, classes and bytes far below 2^64. */
#define MAX_BUFFER_BYTES (1ull << 40)
#define MAX_CELL_BYTES 4096

const struct field mmu_fields[] = {
	{FIELD_OF(struct mmu_params, buffer_bytes), .type = FIELD_U64, .unit = UNIT_BYTES, .min = 1,
	 .max = MAX_BUFFER_BYTES, .def = "12MB",
	 .help = "packet memory of the switch, including reserved bytes and headroom; 12 MB as "
		 "in the SIGCOMM 2015 testbed (Trident II)"},
	{FIELD_OF(struct mmu_params, shared_headroom_pool_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = MAX_BUFFER_BYTES, .def = "0", .live = true,
	 .help = "headroom shared by all lossless groups (xoff of SONiC's BUFFER_POOL); 0: each "
		 "group has its own xoff_bytes"},
	{FIELD_OF(struct mmu_params, lossy_pool_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = MAX_BUFFER_BYTES, .def = "0", .live = true,
	 .help = "part of buffer_bytes that only lossy groups share (SONiC's "
		 "ingress_lossy_pool); 0: lossy and lossless groups share one pool"},
	{FIELD_OF(struct mmu_params, egress_lossy_pool_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = MAX_BUFFER_BYTES, .def = "0", .live = true,
	 .help = "limit of the bytes that all lossy queues together hold beyond their reserved "
		 "bytes (SONiC's egress_lossy_pool); 0: no separate limit"},
	{FIELD_OF(struct mmu_params, cell_bytes), .type = FIELD_U16, .unit = UNIT_BYTES,
	 .max = MAX_CELL_BYTES, .def = "0",
	 .help = "cell size: each frame is charged in whole cells (hardware: 80 to 256); 0: "
		 "exact bytes"},
};

#define PROFILE_FIELD(member, text, defaults)                                                      \
	FIELD_OF(struct buffer_profile, member), .def = defaults, .live = true, .help = text
#define BYTES_FIELD(member, text, defaults)                                                        \
	{                                                                                          \
		PROFILE_FIELD(member, text, defaults), .type = FIELD_U64, .unit = UNIT_BYTES,      \
						       .max = MAX_BUFFER_BYTES                     \
	}
#define XOFF_FIELD(text, defaults)                                                                 \
	{                                                                                          \
		PROFILE_FIELD(xoff_bytes, text, defaults), .type = FIELD_U64, .unit = UNIT_BYTES,  \
							   .max = MMU_XOFF_AUTO                    \
	}
#define DYNAMIC_FIELD(text, defaults)                                                              \
	{                                                                                          \
		PROFILE_FIELD(dynamic, text, defaults), .type = FIELD_BOOL                         \
	}
#define DYNAMIC_TH_FIELD(text, defaults)                                                           \
	{                                                                                          \
		PROFILE_FIELD(dynamic_th, text, defaults), .type = FIELD_I8, .min = -8, .max = 7   \
	}
#define DYNAMIC_HELP "on: dynamic_th sets the limit; off: static_th_bytes sets the limit"
#define DYNAMIC_TH_HELP "n: limit = 2^n times the free shared bytes; "
#define STATIC_TH_HELP "limit in bytes when dynamic is off; 0: none"

const struct field buffer_profile_fields[] = {
	BYTES_FIELD(size_bytes,
		    "bytes reserved for each lossless group, used before shared "
		    "bytes; 0: none",
		    "0"),
	DYNAMIC_FIELD(DYNAMIC_HELP, "on"),
	DYNAMIC_TH_FIELD(DYNAMIC_TH_HELP "0 is SONiC's default_dynamic_th and the paper's beta = 8",
			 "0"),
	BYTES_FIELD(static_th_bytes, STATIC_TH_HELP, "0"),
	BYTES_FIELD(xon_bytes,
		    "XON threshold in bytes of use, unless limit - xon_offset_bytes is higher; "
		    "default: one frame rounded up to cells, as in SONiC's Tomahawk 2 profile",
		    "1248"),
	BYTES_FIELD(xon_offset_bytes,
		    "distance of the XON threshold below the limit; default: two frames, as in "
		    "the paper and SONiC's Trident II and Tomahawk 2 profiles",
		    "2496"),
	XOFF_FIELD(
		"headroom of one lossless group for frames that arrive after XOFF: 3 largest "
		"frames + 124 + cable in both directions + the peer's response time; auto: that of the "
		"group's port, at least 22400 (t_flight of the paper at 40G), and beyond "
		"that at most half of the buffer for all groups; software peers need more "
		"(--thresholds)",
		"auto"),
};

const struct field buffer_profile_lossy_fields[] = {
	BYTES_FIELD(size_bytes,
		    "bytes reserved for each lossy group, used before shared bytes; "
		    "0: none",
		    "0"),
	DYNAMIC_FIELD(DYNAMIC_HELP, "on"),
	DYNAMIC_TH_FIELD(DYNAMIC_TH_HELP "3 as in SONiC's lossy profiles", "3"),
	BYTES_FIELD(static_th_bytes, STATIC_TH_HELP, "0"),
};

const struct field buffer_profile_egress_lossless_fields[] = {
	BYTES_FIELD(size_bytes, "bytes reserved for each lossless queue", "0"),
	DYNAMIC_FIELD(DYNAMIC_HELP, "off"),
	DYNAMIC_TH_FIELD(DYNAMIC_TH_HELP "used when dynamic is on", "0"),
	BYTES_FIELD(static_th_bytes,
		    "limit in bytes; 0: none, so that egress never drops lossless traffic, as in "
		    "SONiC's egress_lossless_profile",
		    "0"),
};

const struct field buffer_profile_egress_lossy_fields[] = {
	BYTES_FIELD(size_bytes,
		    "bytes reserved for each lossy queue; default: one full frame, "
		    "as in SONiC",
		    "1518"),
	DYNAMIC_FIELD(DYNAMIC_HELP, "on"),
	DYNAMIC_TH_FIELD(DYNAMIC_TH_HELP "3 as in SONiC's egress_lossy_profile", "3"),
	BYTES_FIELD(static_th_bytes, STATIC_TH_HELP, "0"),
};

const struct field buffer_profile_named_fields[] = {
	BYTES_FIELD(size_bytes,
		    "bytes reserved for each group or queue with this profile, used "
		    "before shared bytes",
		    "0"),
	DYNAMIC_FIELD(DYNAMIC_HELP, "on"),
	DYNAMIC_TH_FIELD(DYNAMIC_TH_HELP "SONiC's default_dynamic_th", "0"),
	BYTES_FIELD(static_th_bytes, STATIC_TH_HELP, "0"),
	BYTES_FIELD(xon_bytes,
		    "lossless groups: XON threshold in bytes of use, unless limit - "
		    "xon_offset_bytes is higher",
		    "0"),
	BYTES_FIELD(xon_offset_bytes,
		    "lossless groups: distance of the XON threshold below the "
		    "limit",
		    "0"),
	XOFF_FIELD("lossless groups: headroom; auto: as in [buffer_profile lossless]", "0"),
};

const unsigned int mmu_fields_n = ARRAY_LEN(mmu_fields);
const unsigned int buffer_profile_fields_n = ARRAY_LEN(buffer_profile_fields);
const unsigned int buffer_profile_lossy_fields_n = ARRAY_LEN(buffer_profile_lossy_fields);
const unsigned int buffer_profile_egress_lossless_fields_n =
	ARRAY_LEN(buffer_profile_egress_lossless_fields);
const unsigned int buffer_profile_egress_lossy_fields_n =
	ARRAY_LEN(buffer_profile_egress_lossy_fields);
const unsigned int buffer_profile_named_fields_n = ARRAY_LEN(buffer_profile_named_fields);

const struct buffer_profile *
mmu_pg_profile(const struct mmu_params *p, uint16_t port, uint8_t pg)
{
	uint8_t own = p->pg_profile[port][pg];

	/* mmu_params_check() refuses a profile that does not exist. */
	if (own > 0 && own <= p->n_profiles && own <= MMU_MAX_PROFILES)
		return &p->profiles[own - 1];
	return p->lossless_pgs[port] >> pg & 1 ? &p->lossless : &p->lossy;
}

static const struct buffer_profile *
queue_profile(const struct mmu_params *p, uint16_t port, uint8_t queue)
{
	uint8_t own = p->queue_profile[port][queue];

	if (own > 0)
		return &p->profiles[own - 1];
	return p->lossless_queues[port] >> queue & 1 ? &p->egress_lossless : &p->egress_lossy;
}

unsigned int
mmu_params_most_lossless(const struct mmu_params *p)
{
	int most = 0;

	for (uint16_t port = 0; port < p->n_ports; port++) {
		int n = __builtin_popcount(p->lossless_pgs[port]);

		most = n > most ? n : most;
	}
	return (unsigned int)most;
}

uint64_t
mmu_pg_headroom(const struct mmu_params *p, uint16_t port, uint8_t pg)
{
	uint64_t xoff_bytes = mmu_pg_profile(p, port, pg)->xoff_bytes;

	if (!(p->lossless_pgs[port] >> pg & 1))
		return 0;
	return xoff_bytes == MMU_XOFF_AUTO ? p->auto_xoff_bytes[port] : xoff_bytes;
}

uint64_t
mmu_params_most_packets(const struct mmu_params *p, uint64_t bytes)
{
	uint64_t shortest = MMU_SHORTEST_FRAME_BYTES;

	if (p->cell_bytes > 0)
		shortest = (shortest + p->cell_bytes - 1) / p->cell_bytes * p->cell_bytes;
	return (bytes + shortest - 1) / shortest;
}

uint64_t
mmu_params_headroom_packets(const struct mmu_params *p, uint64_t xoff_bytes)
{
	return xoff_bytes == 0 ? 0 : mmu_params_most_packets(p, xoff_bytes) + MMU_BURST_PACKETS;
}

uint64_t
mmu_params_packets(const struct mmu_params *p, uint32_t frame_bytes)
{
	struct mmu_budget b = mmu_params_budget(p);

	return b.reserved_packets + b.headroom_packets +
	       (b.shared_bytes + b.lossy_bytes) / frame_bytes + 1;
}

/* Packets beyond reserved and headroom are divided in proportion to bytes. */
static void
share_packets(struct mmu_budget *b, const struct mmu_params *p)
{
	uint64_t left = sub_sat(p->packets, b->reserved_packets + b->headroom_packets);
	uint64_t bytes = b->shared_bytes + b->lossy_bytes;

	b->lossy_packets = bytes == 0 ? 0 : mul_div(left, b->lossy_bytes, bytes);
	b->shared_packets = left - b->lossy_packets;
}

struct mmu_budget
mmu_params_budget(const struct mmu_params *p)
{
	struct mmu_budget b = {
		.lossy_bytes = p->lossy_pool_bytes,
		.egress_lossy_bytes = p->egress_lossy_pool_bytes,
	};

	for (uint16_t port = 0; port < p->n_ports; port++) {
		for (uint8_t i = 0; i < TM_CLASSES; i++) {
			const struct buffer_profile *pg = mmu_pg_profile(p, port, i);
			uint64_t headroom;

			b.reserved_bytes += pg->size_bytes;
			b.reserved_packets += mmu_params_most_packets(p, pg->size_bytes);
			headroom = mmu_pg_headroom(p, port, i);
			b.headroom_bytes += headroom;
			b.headroom_packets += mmu_params_headroom_packets(p, headroom);
			b.egress_reserved_bytes += queue_profile(p, port, i)->size_bytes;
		}
	}
	if (p->shared_headroom_pool_bytes > 0)
		b.headroom_bytes = p->shared_headroom_pool_bytes;
	b.shared_bytes =
		sub_sat(p->buffer_bytes, b.reserved_bytes + b.headroom_bytes + b.lossy_bytes);
	b.egress_shared_bytes = sub_sat(p->buffer_bytes, b.egress_reserved_bytes);
	share_packets(&b, p);
	return b;
}

static int
profile_check(const struct buffer_profile *b, const char *name, bool has_headroom, char *why,
	      unsigned int why_size)
{
	char range[128];

	/* The table that has every member. */
	if (fields_check(buffer_profile_named_fields, buffer_profile_named_fields_n, b, range,
			 sizeof(range)) != 0)
		return params_refuse(why, why_size, "%s: %s", name, range);
	/* "auto" is the highest number. */
	if (b->xoff_bytes > MAX_BUFFER_BYTES && b->xoff_bytes != MMU_XOFF_AUTO)
		return params_refuse(why, why_size, "%s: xoff_bytes: expected at most %llu or auto",
				     name, MAX_BUFFER_BYTES);
	if (b->dynamic && b->static_th_bytes != 0)
		return params_refuse(why, why_size,
				     "%s: static_th_bytes %" PRIu64
				     " has no effect while dynamic is on",
				     name, b->static_th_bytes);
	if (!has_headroom && b->xoff_bytes != 0)
		return params_refuse(why, why_size,
				     "%s: xoff_bytes %" PRIu64
				     " is headroom, which only lossless groups have",
				     name, b->xoff_bytes);
	return 0;
}

/* Have all ports the same lossless groups? */
static bool
same_groups(const struct mmu_params *p)
{
	for (uint16_t port = 1; port < p->n_ports; port++)
		if (p->lossless_pgs[port] != p->lossless_pgs[0])
			return false;
	return true;
}

/* List the terms of the sum, so that the user sees which key to change. */
static int
refuse_sum(const struct mmu_params *p, const struct mmu_budget *b, char *why, unsigned int why_size)
{
	int n_lossless = (int)mmu_params_most_lossless(p);
	char headroom[128];

	if (p->n_profiles > 0 || p->lossy_pool_bytes > 0 || !same_groups(p) ||
	    p->lossless.xoff_bytes == MMU_XOFF_AUTO)
		return params_refuse(
			why, why_size,
			"headroom %" PRIu64 " + size_bytes of all groups %" PRIu64
			" + lossy_pool_bytes %" PRIu64 " exceeds buffer_bytes %" PRIu64,
			b->headroom_bytes, b->reserved_bytes, b->lossy_bytes, p->buffer_bytes);
	if (p->shared_headroom_pool_bytes > 0)
		snprintf(headroom, sizeof(headroom), "shared_headroom_pool_bytes %" PRIu64,
			 p->shared_headroom_pool_bytes);
	else
		snprintf(headroom, sizeof(headroom),
			 "xoff_bytes %" PRIu64 " x %u ports x %d lossless PG",
			 p->lossless.xoff_bytes, p->n_ports, n_lossless);
	return params_refuse(why, why_size,
			     "%s + size_bytes (%" PRIu64 " x %d lossless PG + %" PRIu64
			     " x %d lossy PG) x %u ports = %" PRIu64
			     " exceeds buffer_bytes %" PRIu64,
			     headroom, p->lossless.size_bytes, n_lossless, p->lossy.size_bytes,
			     TM_CLASSES - n_lossless, p->n_ports,
			     b->reserved_bytes + b->headroom_bytes, p->buffer_bytes);
}

static int
sums_check(const struct mmu_params *p, char *why, unsigned int why_size)
{
	struct mmu_budget b = mmu_params_budget(p);

	if (p->shared_headroom_pool_bytes > 0 && p->lossless.xoff_bytes == 0 && p->n_profiles == 0)
		return params_refuse(why, why_size,
				     "shared_headroom_pool_bytes %" PRIu64
				     " cannot be used: xoff_bytes of the lossless profile is 0",
				     p->shared_headroom_pool_bytes);
	if (b.reserved_bytes + b.headroom_bytes + b.lossy_bytes > p->buffer_bytes)
		return refuse_sum(p, &b, why, why_size);
	if (b.egress_reserved_bytes > p->buffer_bytes)
		return params_refuse(why, why_size,
				     "size_bytes of the egress profiles: %" PRIu64
				     " for all queues of %u ports exceeds buffer_bytes %" PRIu64,
				     b.egress_reserved_bytes, p->n_ports, p->buffer_bytes);
	if (p->packets >= MMU_MAX_PACKETS)
		return params_refuse(why, why_size,
				     "buffer_bytes %" PRIu64
				     " needs %u packet buffers, but at most %u are possible: use a "
				     "larger backing_frame_bytes",
				     p->buffer_bytes, p->packets, MMU_MAX_PACKETS - 1);
	if (p->packets > 0 && b.reserved_packets + b.headroom_packets > p->packets)
		return params_refuse(
			why, why_size,
			"headroom and size_bytes of all groups can hold %" PRIu64
			" shortest frames, but only %u packet buffers were allocated at the start",
			b.reserved_packets + b.headroom_packets, p->packets);
	return 0;
}

/* A named profile must not set keys that have no effect on this group or queue. */
static int
own_profile_check(const struct mmu_params *p, const char *what, uint16_t port, uint8_t index,
		  uint8_t own, bool has_headroom, char *why, unsigned int why_size)
{
	if (own > p->n_profiles)
		return params_refuse(why, why_size, "port %u: the profile of %s %u does not exist",
				     port, what, index);
	if (own > 0 && !has_headroom && p->profiles[own - 1].xoff_bytes != 0)
		return params_refuse(
			why, why_size,
			"%s: xoff_bytes %" PRIu64
			" is headroom, which %s %u of port %u does not have: it is not lossless",
			p->profile_names[own - 1], p->profiles[own - 1].xoff_bytes, what, index,
			port);
	return 0;
}

static int
own_profiles_check(const struct mmu_params *p, char *why, unsigned int why_size)
{
	int rc = 0;

	if (p->n_profiles > MMU_MAX_PROFILES)
		return params_refuse(why, why_size, "more than %d named profiles",
				     MMU_MAX_PROFILES);
	for (unsigned int i = 0; rc == 0 && i < p->n_profiles; i++)
		rc = profile_check(&p->profiles[i], p->profile_names[i], true, why, why_size);
	for (uint16_t port = 0; rc == 0 && port < p->n_ports; port++) {
		for (uint8_t i = 0; rc == 0 && i < TM_CLASSES; i++) {
			rc = own_profile_check(p, "pg", port, i, p->pg_profile[port][i],
					       p->lossless_pgs[port] >> i & 1, why, why_size);
			if (rc == 0)
				rc = own_profile_check(p, "queue", port, i,
						       p->queue_profile[port][i], false, why,
						       why_size);
		}
	}
	return rc;
}

int
mmu_params_check(const struct mmu_params *p, char *why, unsigned int why_size)
{
	const struct {
		const struct buffer_profile *profile;
		const char *name;
	} profiles[] = {
		{&p->lossless, "lossless"},
		{&p->lossy, "lossy"},
		{&p->egress_lossless, "egress_lossless"},
		{&p->egress_lossy, "egress_lossy"},
	};
	int rc = fields_check(mmu_fields, mmu_fields_n, p, why, why_size);

	if (p->n_ports == 0 || p->n_ports > MMU_MAX_PORTS)
		return params_refuse(why, why_size, "n_ports must be from 1 to %d", MMU_MAX_PORTS);
	for (unsigned int i = 0; rc == 0 && i < ARRAY_LEN(profiles); i++)
		rc = profile_check(profiles[i].profile, profiles[i].name, i == 0, why, why_size);
	if (rc == 0)
		rc = own_profiles_check(p, why, why_size);
	return rc == 0 ? sums_check(p, why, why_size) : rc;
}
