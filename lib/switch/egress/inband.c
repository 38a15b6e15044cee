/* SPDX-License-Identifier: BSD-3-Clause */
/* In-band telemetry: frames with an INT header learn the state of the port as they leave. */
#include "switch/egress/egress.h"

#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "switch/frame/copy_on_write.h"
#include "wire/frame/l2.h"
#include "wire/roce/int_hdr.h"

static void
add(struct sw *sw, struct sw_port *p, struct rte_mbuf **pkt, const struct int_hop *hop)
{
	struct rte_mbuf *own;

	if (!int_is_open(rte_pktmbuf_mtod(*pkt, const uint8_t *), (*pkt)->data_len))
		return;
	own = sw_make_writable(&sw->pools, *pkt);
	if (own == NULL) {
		counter_inc(&p->stats.int_no_mbuf);
		return;
	}
	*pkt = own;
	switch (int_append(rte_pktmbuf_mtod(own, uint8_t *), own->data_len, p->int_id, hop)) {
	case INT_OK:
		counter_inc(&p->stats.int_hops_added);
		break;
	case INT_NO_ROOM:
		counter_inc(&p->stats.int_no_room);
		break;
	default:
		counter_inc(&p->stats.int_malformed);
	}
}

void
sw_inband_add(struct sw *sw, struct sw_port *p, uint8_t queue, struct rte_mbuf **pkts, uint16_t n,
	      uint64_t now_ns)
{
	uint64_t sent_bytes = p->stats.tx_bytes + p->stats.tx_packets * GAP_BYTES;
	uint64_t queue_bytes = p->queue[queue].bytes;
	struct int_hop hop = {.time_ns = (uint32_t)now_ns,
			      .rate_mbps = (uint32_t)(p->shaper.account.rate_bps / MBPS)};

	/* From the last frame back: the later frames were still in the queue, and not sent. */
	for (uint16_t i = n; i-- > 0;) {
		uint32_t bytes = frame_bytes(pkts[i]->pkt_len);

		hop.queue_bytes = (uint32_t)min_u64(queue_bytes, UINT32_MAX);
		hop.tx_bytes = (uint32_t)sent_bytes;
		add(sw, p, &pkts[i], &hop);
		queue_bytes += bytes;
		sent_bytes -= bytes + GAP_BYTES;
	}
}
