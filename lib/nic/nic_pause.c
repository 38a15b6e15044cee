/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_pause.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/fixed.h"
#include "nic/nic_internal.h"

/* The priority that stands for the whole link. */
#define LINK_PRIO 0

void
nic_pause_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	struct nic_pause *pause = &nic->pause;
	const uint8_t obeyed[] = {
		[NIC_FLOW_OFF] = 0,
		[NIC_FLOW_PFC] = p->qos.pfc_enable,
		[NIC_FLOW_PAUSE] = 1u << LINK_PRIO,
	};

	*pause = (struct nic_pause){.slow = p->receiver.drain_rate_bps > 0, .xon_ns = NEVER_NS};
	pfc_rx_init(&pause->pfc_rx, obeyed[p->flow_control], p->link_speed_bps);
	if (pause->slow)
		pfc_tx_init(&pause->pfc_tx, &p->pfc, p->link_speed_bps);
}

static void
set_paused(struct nic *nic, uint8_t prios)
{
	struct nic_pause *pause = &nic->pause;

	pause->paused_prios = prios;
	if (nic->params.flow_control == NIC_FLOW_PAUSE)
		pause->paused_queues = prios != 0 ? UINT8_MAX : 0;
	else
		pause->paused_queues = qos_map_paused_queues(&nic->params.qos, prios);
}

void
nic_pause_on_frame(struct nic *nic, enum mac_control_kind kind, const struct mac_control *mc,
		   uint64_t now_ns)
{
	bool link = nic->params.flow_control == NIC_FLOW_PAUSE;
	struct pfc_vector vector = {0};

	/* Counted by the node that the device gave it to, obeyed by all. */
	if (!nic->taking_over) {
		counter_inc(&nic->stats.rx_pause_frames);
		counter_add(&nic->stats.rx_global_pause_frames, kind == MAC_CONTROL_PAUSE);
	}
	if (kind == MAC_CONTROL_PAUSE) {
		vector.enable = 1u << LINK_PRIO;
		vector.quanta[LINK_PRIO] = mc->quanta[0];
	} else {
		vector.enable = mc->enable;
		memcpy(vector.quanta, mc->quanta, sizeof(vector.quanta));
	}
	/* A port runs PFC or link pause, not both. */
	if (link != (kind == MAC_CONTROL_PAUSE))
		return;
	set_paused(nic, pfc_rx_on_frame(&nic->pause.pfc_rx, &vector, now_ns));
	node_wake(&nic->node, 0);
}

void
nic_pause_update(struct nic *nic, uint64_t now_ns)
{
	set_paused(nic, pfc_rx_paused(&nic->pause.pfc_rx, now_ns));
}

/* Priorities whose senders we may hold. */
static uint8_t
held_prios(const struct nic *nic)
{
	switch (nic->params.flow_control) {
	case NIC_FLOW_PFC:
		return nic->params.qos.pfc_enable;
	case NIC_FLOW_PAUSE:
		return 1u << LINK_PRIO;
	default:
		return 0;
	}
}

static void
set_xoff(struct nic *nic, uint8_t prio, uint64_t now_ns)
{
	struct nic_pause *pause = &nic->pause;
	const struct rx_drain *buffer = &pause->buffers[prio];
	bool held = pfc_tx_is_xoff(&pause->pfc_tx, prio);
	bool xoff = rx_drain_wants_xoff(buffer, &nic->params.receiver, held, now_ns);

	if (xoff != held) {
		pfc_tx_set(&pause->pfc_tx, prio, xoff, now_ns);
		node_wake(&nic->node, 0);
	}
	if (xoff)
		pause->xon_ns =
			min_u64(pause->xon_ns, rx_drain_xon_ns(buffer, &nic->params.receiver));
}

bool
nic_pause_admit(struct nic *nic, int dscp, int pcp, uint32_t len, uint64_t now_ns)
{
	uint8_t prio = nic->params.flow_control == NIC_FLOW_PAUSE
			       ? LINK_PRIO
			       : qos_map_classify(&nic->params.qos, dscp, pcp).pg;

	if (!rx_drain_admit(&nic->pause.buffers[prio], &nic->params.receiver, frame_bytes(len),
			    now_ns))
		return false;
	if (held_prios(nic) >> prio & 1)
		set_xoff(nic, prio, now_ns);
	return true;
}

bool
nic_pause_due(struct nic *nic, uint64_t now_ns)
{
	struct nic_pause *pause = &nic->pause;

	if (now_ns >= pause->xon_ns) {
		uint8_t held = pause->pfc_tx.xoff;

		/* Frames that came since may have moved the time: it is found anew. */
		pause->xon_ns = NEVER_NS;
		for (; held != 0; held &= (uint8_t)(held - 1))
			set_xoff(nic, (uint8_t)__builtin_ctz(held), now_ns);
	}
	return pfc_tx_next_ns(&pause->pfc_tx) <= now_ns;
}

void
nic_pause_build(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns)
{
	uint8_t *buf = (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES);
	struct pfc_vector vector;
	bool due = pfc_tx_take(&nic->pause.pfc_tx, &vector, now_ns);

	assert(due && buf != NULL);
	(void)due;
	if (nic->params.flow_control == NIC_FLOW_PAUSE)
		pause_frame_build(buf, nic->params.mac, vector.quanta[LINK_PRIO]);
	else
		pfc_frame_build(buf, nic->params.mac, vector.enable, vector.quanta);
	counter_inc(&nic->stats.tx_pause_frames);
}

uint64_t
nic_pause_next_ns(const struct nic *nic)
{
	const struct nic_pause *pause = &nic->pause;

	return max_u64(nic->retry_ns, min_u64(pfc_tx_next_ns(&pause->pfc_tx), pause->xon_ns));
}
