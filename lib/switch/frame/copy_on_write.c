/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/frame/copy_on_write.h"

#include <assert.h>
#include <string.h>
#include <rte_mbuf.h>

#include "node/pkt_meta.h"
#include "wire/frame/l2.h"

struct rte_mbuf *
sw_copy_frame(const struct sw_pools *pools, struct rte_mbuf *m)
{
	uint32_t room_bytes = rte_pktmbuf_data_room_size(pools->copies) - RTE_PKTMBUF_HEADROOM;

	return m->pkt_len > room_bytes ? NULL : rte_pktmbuf_copy(m, pools->copies, 0, UINT32_MAX);
}

struct rte_mbuf *
sw_make_writable(const struct sw_pools *pools, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (likely(sw_is_writable(m)))
		return m;
	copy = sw_copy_frame(pools, m);
	if (copy == NULL)
		return NULL;
	*pkt_meta(copy) = *pkt_meta(m);
	rte_pktmbuf_free(m);
	return copy;
}

/* Move the two MAC addresses by the length of a tag. The rest of the frame stays in place. */
static void
pop_tag(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	memmove(frame + VLAN_TAG_BYTES, frame, 12);
	rte_pktmbuf_adj(m, VLAN_TAG_BYTES);
	/* Without the tag the frame may be too short for the wire (802.3 4A.4.2). */
	if (m->data_len < L2_MIN_BYTES) {
		uint16_t missing = (uint16_t)(L2_MIN_BYTES - m->data_len);
		char *pad = rte_pktmbuf_append(m, missing);

		if (pad != NULL)
			memset(pad, 0, missing);
	}
}

static bool
push_tag(struct rte_mbuf *m)
{
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(m, VLAN_TAG_BYTES);

	if (frame == NULL)
		return false;
	memmove(frame, frame + VLAN_TAG_BYTES, 12);
	be16_store(frame + 12, ETHERTYPE_VLAN);
	return true;
}

struct rte_mbuf *
sw_retag(const struct sw_pools *pools, struct rte_mbuf *m, bool tagged, int32_t tci)
{
	struct rte_mbuf *own = sw_make_writable(pools, m);

	if (own == NULL)
		return NULL;
	if (tci == SW_UNTAGGED) {
		if (tagged)
			pop_tag(own);
		return own;
	}
	/* A frame from a device may, rarely, lack headroom; a copy always has headroom. */
	if (!tagged && !push_tag(own)) {
		assert(own == m);
		return NULL;
	}
	be16_store(rte_pktmbuf_mtod(own, uint8_t *) + 14, (uint16_t)tci);
	return own;
}
