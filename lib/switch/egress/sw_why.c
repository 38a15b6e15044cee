/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/sw_why.h"

#include <stdio.h>
#include <rte_mbuf.h>

#include "node/pkt_meta.h"
#include "switch/core/switch.h"
#include "wire/link/pfc_frame.h"

int
sw_marking_queue(const struct node *node, uint16_t port, const struct rte_mbuf *m)
{
	const void *marked_by = pkt_meta((struct rte_mbuf *)(uintptr_t)m)->marked_by;

	for (int queue = 0; queue < TM_CLASSES; queue++) {
		if (marked_by == &sw_of_const(node)->ports[port].stats.queue[queue])
			return queue;
	}
	return -1;
}

/* Of a pause frame: its groups, each with what it holds of the buffer. */
static void
say_pause(const struct sw *sw, uint16_t port, const struct mac_control *c, char *text, size_t size)
{
	size_t used = 0;

	for (uint8_t pg = 0; pg < TM_CLASSES && used < size; pg++) {
		struct mmu_pg_state in_use = mmu_pg_state(sw->mmu, port, pg);

		if (!(c->enable >> pg & 1))
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 "%s%s of group %u at %.1f KB shared, %.1f KB headroom",
					 used > 0 ? ", " : "", c->quanta[pg] > 0 ? "XOFF" : "XON",
					 pg, (double)in_use.shared_bytes / 1e3,
					 (double)in_use.headroom_bytes / 1e3);
	}
}

void
sw_why(const struct node *node, uint16_t port, const struct rte_mbuf *m, char *text, size_t size)
{
	const struct sw *sw = sw_of_const(node);
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	enum mac_control_kind kind;
	struct mac_control c;
	struct frame_view f;
	int queue = -1;

	text[0] = '\0';
	if (frame_parse(frame, m->data_len, &f) != FRAME_OK)
		return;
	if (f.ip_version != 0 && f.ecn == ECN_CE)
		queue = sw_marking_queue(node, port, m);
	if (queue >= 0)
		snprintf(text, size, "marked in queue %d at %.1f KB", queue,
			 (double)counter_read(&sw->ports[port].queue[queue].bytes) / 1e3);
	if (f.ethertype != ETHERTYPE_MAC_CONTROL)
		return;
	kind = mac_control_parse(frame, m->data_len, &c);
	if (kind == MAC_CONTROL_PFC)
		say_pause(sw, port, &c, text, size);
	else if (kind == MAC_CONTROL_PAUSE)
		snprintf(text, size, "%s of the link", c.quanta[0] > 0 ? "XOFF" : "XON");
}
