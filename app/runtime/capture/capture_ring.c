/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture_ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"

/* In the place of a record's n_bytes: the rest of the ring, up to its last byte, is unused. */
#define SKIP UINT32_MAX

static_assert(sizeof(struct capture_record) % 8 == 0, "records begin at multiples of 8 bytes");

int
capture_ring_init(struct capture_ring *ring, uint64_t bytes)
{
	*ring = (struct capture_ring){.size = bytes};
	ring->bytes = malloc(bytes);
	if (ring->bytes == NULL)
		return -ENOMEM;
	/* Touch all pages here, and not on a polling lcore. */
	memset(ring->bytes, 0, bytes);
	return 0;
}

void
capture_ring_free(struct capture_ring *ring)
{
	free(ring->bytes);
	ring->bytes = NULL;
}

static uint8_t *
at(const struct capture_ring *ring, uint64_t position)
{
	return ring->bytes + (position & (ring->size - 1));
}

static uint64_t
record_bytes(uint32_t n_bytes)
{
	return (sizeof(struct capture_record) + n_bytes + 7) & ~UINT64_C(7);
}

static bool
has_room(struct capture_ring *ring, uint64_t bytes)
{
	uint64_t end = ring->put.end + bytes;

	if (end - ring->known_first > ring->size)
		ring->known_first = atomic_load_explicit(&ring->first, memory_order_acquire);
	return end - ring->known_first <= ring->size;
}

static void
copy(const struct rte_mbuf *m, uint8_t *to, uint32_t n)
{
	for (; m != NULL && n > 0; m = m->next) {
		uint32_t part = (uint32_t)min_u64(m->data_len, n);

		memcpy(to, rte_pktmbuf_mtod(m, const uint8_t *), part);
		to += part;
		n -= part;
	}
}

struct capture_record *
capture_ring_put(struct capture_ring *ring, const struct rte_mbuf *frame, uint32_t snap_bytes,
		 enum pcapng_way way, uint64_t at_ns)
{
	uint32_t n = (uint32_t)min_u64(frame->pkt_len, snap_bytes);
	uint64_t bytes = record_bytes(n), left = ring->size - (ring->put.end & (ring->size - 1));
	uint64_t skipped = left < bytes ? left : 0;
	struct capture_record *record;

	if (!has_room(ring, skipped + bytes)) {
		ring->put.lost++;
		return NULL;
	}
	if (skipped > 0)
		*(uint32_t *)(void *)at(ring, ring->put.end) = SKIP;
	record = (void *)at(ring, ring->put.end + skipped);
	record->n_bytes = n;
	record->frame_bytes = frame->pkt_len;
	record->at_ns = at_ns;
	record->lost = ring->put.lost;
	record->way = way;
	record->why[0] = '\0';
	copy(frame, (uint8_t *)(record + 1), n);
	ring->put.end += skipped + bytes;
	return record;
}

void
capture_ring_publish(struct capture_ring *ring, const struct capture_mark *mark)
{
	ring->put = *mark;
	atomic_store_explicit(&ring->lost, mark->lost, memory_order_relaxed);
	atomic_store_explicit(&ring->end, mark->end, memory_order_release);
}

const struct capture_record *
capture_ring_peek(struct capture_ring *ring)
{
	uint64_t first = atomic_load_explicit(&ring->first, memory_order_relaxed);
	const struct capture_record *record;

	if (first == atomic_load_explicit(&ring->end, memory_order_acquire))
		return NULL;
	record = (const void *)at(ring, first);
	if (record->n_bytes == SKIP) {
		first += ring->size - (first & (ring->size - 1));
		atomic_store_explicit(&ring->first, first, memory_order_release);
		record = (const void *)at(ring, first);
	}
	return record;
}

void
capture_ring_take(struct capture_ring *ring)
{
	uint64_t first = atomic_load_explicit(&ring->first, memory_order_relaxed);
	const struct capture_record *record = (const void *)at(ring, first);

	atomic_store_explicit(&ring->first, first + record_bytes(record->n_bytes),
			      memory_order_release);
}
