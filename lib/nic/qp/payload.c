/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/qp/payload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "base/numbers/fixed.h"
#include "node/pkt_meta.h"
#include "node/pkt_pool.h"

/* Pad and ICRC follow the payload: at most 3 + 4 bytes, which are restored as one 8-byte word. */
#define TAIL_BYTES 8u

uint16_t
nic_largest_frame(uint16_t mtu_bytes)
{
	return (uint16_t)(ROCE_MAX_HDR_BYTES + mtu_bytes + TAIL_BYTES);
}

/*
 * Byte i is i * 151 + i / 256 * 29 + 7. The odd factor gives each byte value once per 256 bytes;
 * the term with i / 256 makes the blocks of 256 bytes differ.
 *
 * Most bytes are that of 16 or 256 places before, plus a constant: a vector at once, as every mbuf
 * of a fabric is filled.
 */
static void
pattern_fill(uint8_t *to, size_t n)
{
	size_t i = 0;

	for (; i < min_u64(n, 16); i++)
		to[i] = (uint8_t)(i * 151 + 7);
	for (; i < min_u64(n, 256); i++)
		to[i] = (uint8_t)(to[i - 16] + 16 * 151);
	for (; i < n; i++)
		to[i] = (uint8_t)(to[i - 256] + 29);
}

static void
fill(struct rte_mempool *pool, void *arg, void *mbuf, unsigned int i)
{
	struct rte_mbuf *m = mbuf;
	size_t n = (size_t)m->buf_len - NIC_PAYLOAD_OFFSET;

	(void)pool;
	(void)arg;
	(void)i;
	pattern_fill((uint8_t *)m->buf_addr + NIC_PAYLOAD_OFFSET,
		     min_u64(n, NIC_MAX_MTU + TAIL_BYTES));
	pkt_meta(m)->dirty_off = 0;
}

struct rte_mempool *
nic_data_pool_create(const struct pkt_pool_params *params, uint16_t mtu_bytes)
{
	struct pkt_pool_params p = *params;

	if (mtu_bytes > NIC_MAX_MTU) {
		rte_errno = EINVAL;
		return NULL;
	}
	p.largest_frame =
		(uint16_t)(NIC_PAYLOAD_OFFSET - RTE_PKTMBUF_HEADROOM + mtu_bytes + TAIL_BYTES);
	p.init = fill;
	return pkt_pool_create(&p);
}

uint16_t
nic_pool_payload_bytes(struct rte_mempool *pool)
{
	uint16_t data_room = rte_pktmbuf_data_room_size(pool);

	if (data_room < NIC_PAYLOAD_OFFSET + TAIL_BYTES ||
	    rte_pktmbuf_priv_size(pool) < PKT_PRIV_BYTES)
		return 0;
	return (uint16_t)(data_room - NIC_PAYLOAD_OFFSET - TAIL_BYTES);
}

struct nic_payloads *
nic_payloads_create(void)
{
	static const uint8_t zeros[CNP_BODY_BYTES];
	struct nic_payloads *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	pattern_fill(p->pattern, sizeof(p->pattern));
	roce_payload_init(&p->cnp_body, zeros, sizeof(zeros));
	roce_payload_init(&p->aeth, zeros, AETH_BYTES);
	return p;
}

void
nic_payloads_mark_frames(struct nic_payloads *p)
{
	static const struct rte_mbuf_dynflag flag = {.name = "quench_payload_is_pattern"};
	int bit = rte_mbuf_dynflag_register(&flag);

	p->mark = bit < 0 ? 0 : UINT64_C(1) << bit;
}

void
nic_payloads_destroy(struct nic_payloads *p)
{
	if (p == NULL)
		return;
	for (unsigned int i = 0; i <= NIC_MAX_MTU; i++)
		free(p->by_length[i]);
	for (unsigned int i = 0; i <= NIC_MAX_MTU / NIC_MIN_MTU; i++)
		free(p->series[i]);
	free(p);
}

/*
 * Store what was made on first use. The owner, and a thread that prepares a flow, may both make it:
 * the first one is kept.
 */
static const void *
keep_first(void *slot, void *made)
{
	void *old = NULL;

	if (__atomic_compare_exchange_n((void **)slot, &old, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	free(made);
	return old;
}

const struct roce_payload *
nic_payload(struct nic_payloads *p, uint16_t payload_bytes)
{
	struct roce_payload **slot = &p->by_length[payload_bytes], *made;

	if (likely(*slot != NULL))
		return *slot;
	made = malloc(sizeof(*made));
	if (made == NULL)
		return NULL;
	roce_payload_init(made, p->pattern, payload_bytes);
	return keep_first(slot, made);
}

int
nic_payloads_make(struct nic_payloads *p, uint16_t most_bytes)
{
	/* Called for each flow: most often all have been made. */
	if (__atomic_load_n(&p->n_made, __ATOMIC_ACQUIRE) > most_bytes)
		return 0;
	for (uint16_t n = 0; n <= most_bytes; n++)
		if (nic_payload(p, n) == NULL)
			return -ENOMEM;
	__atomic_store_n(&p->n_made, most_bytes + 1u, __ATOMIC_RELEASE);
	return 0;
}

const struct roce_series *
nic_series(struct nic_payloads *p, uint16_t mtu_bytes)
{
	const struct roce_payload *payload = nic_payload(p, mtu_bytes);
	struct roce_series **slot = &p->series[mtu_bytes / NIC_MIN_MTU], *made;

	if (*slot != NULL || payload == NULL)
		return *slot;
	made = malloc(sizeof(*made));
	if (made == NULL)
		return NULL;
	roce_series_init(made, payload);
	return keep_first(slot, made);
}
