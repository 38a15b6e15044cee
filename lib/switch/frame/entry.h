/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptor of an admitted frame. It has all values that queues, WRED, release and crossing read.
 * Entries are passed by value, so the cache lines of a waiting frame are not touched until it
 * leaves.
 *
 * Invariant: while a frame waits, its mbuf and its length do not change, so its entry stays
 * valid.
 */
#ifndef QUENCH_SWITCH_FRAME_ENTRY_H
#define QUENCH_SWITCH_FRAME_ENTRY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "node/pkt_meta.h"
#include "switch/frame/arrival.h"
#include "switch/tables/sw_limits.h"
#include "switch/params/sw_params.h"

#define SW_ENTRY_CHARGED_BITS 20
#define SW_ENTRY_PLACE_BITS 12

/*
 * 16 bytes, so that a cache line holds four entries. Two words and not bit fields: compilers write
 * bit fields one by one, and a read of the whole word right after such writes stalls.
 */
struct sw_entry {
	uint64_t frame; /* the mbuf, whose address has 48 bits in user space; frame_bytes << 48 */
	uint64_t rest;  /* charged_bytes, flags << 20, l3_off << 28, ip_version << 36,
			 * group << 40, queue << 52 */
};
static_assert(sizeof(struct sw_entry) == 16, "four entries to a cache line");
static_assert(SW_MAX_PORTS * TM_CLASSES <= 1u << SW_ENTRY_PLACE_BITS, "groups and queues fit");
static_assert(MAX_FRAME_BYTES <= UINT16_MAX, "the length fits");
/* A charge is rounded up to cells of at most UINT16_MAX bytes. */
static_assert(MAX_FRAME_BYTES + UINT16_MAX < 1u << SW_ENTRY_CHARGED_BITS, "the charge fits");

static inline uint64_t
sw_entry_frame(const struct rte_mbuf *m, uint32_t frame_bytes)
{
	return (uintptr_t)m | (uint64_t)frame_bytes << 48;
}

static inline struct rte_mbuf *
sw_entry_mbuf(const struct sw_entry *e)
{
	return (struct rte_mbuf *)(uintptr_t)(e->frame & (UINT64_MAX >> 16));
}

static inline uint32_t
sw_entry_frame_bytes(const struct sw_entry *e)
{
	return (uint32_t)(e->frame >> 48);
}

/** What the MMU charged. */
static inline uint32_t
sw_entry_charged_bytes(const struct sw_entry *e)
{
	return (uint32_t)e->rest & ((1u << SW_ENTRY_CHARGED_BITS) - 1);
}

/** PKT_*. */
static inline uint8_t
sw_entry_flags(const struct sw_entry *e)
{
	return (uint8_t)(e->rest >> 20);
}

static inline uint8_t
sw_entry_l3_off(const struct sw_entry *e)
{
	return (uint8_t)(e->rest >> 28);
}

/** 0: not IP. */
static inline uint8_t
sw_entry_ip_version(const struct sw_entry *e)
{
	return e->rest >> 36 & 0xF;
}

/** in_port * TM_CLASSES + priority group. */
static inline uint16_t
sw_entry_group(const struct sw_entry *e)
{
	return e->rest >> 40 & 0xFFF;
}

/** out_port * TM_CLASSES + queue. */
static inline uint16_t
sw_entry_queue(const struct sw_entry *e)
{
	return (uint16_t)(e->rest >> 52);
}

/** The entry of a frame that is about to enter its queue. */
static inline struct sw_entry
sw_entry_of(const struct arrival *a)
{
	uint64_t l3_off = ETH_HDR_BYTES + (a->view.tagged ? VLAN_TAG_BYTES : 0);
	uint64_t group = a->in_port * TM_CLASSES + a->class.pg;
	uint64_t queue = a->out_port * TM_CLASSES + a->class.queue;

	return (struct sw_entry){
		.frame = sw_entry_frame(a->m, frame_bytes(a->m->pkt_len)),
		.rest = a->charged_bytes | (uint64_t)a->flags << 20 | l3_off << 28 |
			(uint64_t)a->view.ip_version << 36 | group << 40 | queue << 52,
	};
}

#endif
