/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/port/nic_pause.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/port/port_state.h"

/* The priority that represents the whole link. */
#define LINK_PRIO 0

void
nic_pause_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	struct nic_pause *pause = nic->pause;
	const uint8_t obeyed[] = {
		[NIC_FLOW_OFF] = 0,
		[NIC_FLOW_PFC] = p->qos.pfc_enable,
		[NIC_FLOW_PAUSE] = 1u << LINK_PRIO,
	};

	*pause = (struct nic_pause){.xon_ns = NEVER_NS};
	pause->slow = pause->sends_pause = p->receiver.drain_rate_bps > 0;
	pfc_rx_init(&pause->pfc_rx, obeyed[p->flow_control], p->link_speed_bps);
	pfc_tx_init(&pause->pfc_tx, &p->pfc, p->link_speed_bps);
}

static void
set_paused(struct nic *nic, uint8_t prios)
{
	struct nic_pause *pause = nic->pause;
	uint8_t queues = qos_map_paused_queues(&nic->params.qos, prios);

	if (nic->params.flow_control == NIC_FLOW_PAUSE)
		queues = prios != 0 ? UINT8_MAX : 0;
	pause->paused_prios = prios;
	__atomic_store_n(&pause->paused_queues, queues, __ATOMIC_RELAXED);
}

void
nic_pause_on_frame(struct nic *nic, enum mac_control_kind kind, const struct mac_control *mc,
		   uint64_t now_ns)
{
	bool link = nic->params.flow_control == NIC_FLOW_PAUSE;
	struct pfc_vector vector = {0};

	/* All nodes of a NIC obey the frame; only the one that received it counts it. */
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
	set_paused(nic, pfc_rx_on_frame(&nic->pause->pfc_rx, &vector, now_ns));
	node_wake(&nic->node, 0);
}

void
nic_pause_update(struct nic *nic, uint64_t now_ns)
{
	set_paused(nic, pfc_rx_paused(&nic->pause->pfc_rx, now_ns));
}

/* Mask of the priorities whose senders we may pause. */
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

/* A buffer reached XOFF: the node that sends pause frames will send the frame. */
static void
want_xoff(struct nic *nic, uint8_t prio)
{
	__atomic_fetch_or(&nic->port->wants_xoff, 1u << prio, __ATOMIC_SEQ_CST);
	node_wake(&nic->node, 0);
}

static bool
is_full(const struct nic *nic, uint8_t prio, bool held, uint64_t now_ns)
{
	return rx_drain_wants_xoff(&nic->port->buffers[prio], &nic->params.receiver, held, now_ns);
}

bool
nic_pause_admit(struct nic *nic, int dscp, int pcp, uint32_t len, uint64_t now_ns)
{
	uint8_t prio = nic->params.flow_control == NIC_FLOW_PAUSE
			       ? LINK_PRIO
			       : qos_map_classify(&nic->params.qos, dscp, pcp).pg;
	uint32_t wanted;

	if (!rx_drain_admit(&nic->port->buffers[prio], &nic->params.receiver, frame_bytes(len),
			    now_ns))
		return false;
	/*
	 * nic_pause_admit() fills the buffer and then reads the bit; resume_prio() clears the bit
	 * and then reads the buffer. So at least one of the two sees the change of the other.
	 */
	wanted = __atomic_load_n(&nic->port->wants_xoff, __ATOMIC_SEQ_CST);
	if (held_prios(nic) & ~wanted & 1u << prio && is_full(nic, prio, false, now_ns))
		want_xoff(nic, prio);
	return true;
}

static void
hold(struct nic *nic, uint8_t prio, uint64_t now_ns)
{
	struct nic_pause *pause = nic->pause;

	if (!pfc_tx_is_xoff(&pause->pfc_tx, prio) && !(pause->storm.disabled >> prio & 1)) {
		pfc_tx_set(&pause->pfc_tx, prio, true, now_ns);
		pause_storm_begin(&pause->storm, prio, now_ns);
	}
	pause->xon_ns = min_u64(pause->xon_ns, rx_drain_xon_ns(&nic->port->buffers[prio],
							       &nic->params.receiver, now_ns));
}

static void
set_xon(struct nic *nic, uint8_t prio, uint64_t now_ns)
{
	pfc_tx_set(&nic->pause->pfc_tx, prio, nic->pause->stuck >> prio & 1, now_ns);
}

static void
resume_prio(struct nic *nic, uint8_t prio, uint64_t now_ns)
{
	__atomic_fetch_and(&nic->port->wants_xoff, ~(1u << prio), __ATOMIC_SEQ_CST);
	set_xon(nic, prio, now_ns);
	pause_storm_end(&nic->pause->storm, prio);
	/*
	 * In between, another node may have admitted a frame, and seen the priority still paused.
	 */
	if (is_full(nic, prio, false, now_ns))
		want_xoff(nic, prio);
}

/* Mask of the priorities to pause that are not paused yet. */
static uint32_t
fresh_xoffs(const struct nic *nic)
{
	return __atomic_load_n(&nic->port->wants_xoff, __ATOMIC_RELAXED) &
	       ~(uint32_t)(nic->pause->pfc_tx.xoff | nic->pause->storm.disabled);
}

static struct pause_storm_params
storm_params(const struct nic *nic)
{
	return (struct pause_storm_params){
		.minor_ns = nic->params.receiver.device_stall_minor_watermark_ns,
		.critical_ns = nic->params.receiver.device_stall_critical_watermark_ns,
	};
}

/* Release priorities that have been paused for too long, even if the buffer is still full. */
static void
end_storms(struct nic *nic, uint64_t now_ns)
{
	const struct pause_storm_params params = storm_params(nic);
	uint8_t stopped =
		pause_storm_check(&nic->pause->storm, &params, &nic->stats.pause_storm, now_ns);

	for (; stopped != 0; stopped &= (uint8_t)(stopped - 1))
		set_xon(nic, (uint8_t)__builtin_ctz(stopped), now_ns);
}

bool
nic_pause_due(struct nic *nic, uint64_t now_ns)
{
	struct nic_pause *pause = nic->pause;

	for (uint32_t fresh = fresh_xoffs(nic); fresh != 0; fresh &= fresh - 1)
		hold(nic, (uint8_t)__builtin_ctz(fresh), now_ns);
	if (now_ns >= pause->xon_ns) {
		/* Recompute: frames received since may have moved the time. */
		pause->xon_ns = NEVER_NS;
		for (uint32_t held = pause->pfc_tx.xoff | pause->storm.disabled; held != 0;
		     held &= held - 1) {
			uint8_t prio = (uint8_t)__builtin_ctz(held);

			if (is_full(nic, prio, true, now_ns))
				hold(nic, prio, now_ns);
			else
				resume_prio(nic, prio, now_ns);
		}
	}
	if (pause->storm.paused != 0)
		end_storms(nic, now_ns);
	return pfc_tx_next_ns(&pause->pfc_tx) <= now_ns;
}

void
nic_pause_build(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns)
{
	uint8_t *buf = (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES);
	struct pfc_vector vector;
	bool due = pfc_tx_take(&nic->pause->pfc_tx, &vector, now_ns);

	assert(due && buf != NULL);
	(void)due;
	if (nic->params.flow_control == NIC_FLOW_PAUSE)
		pause_frame_build(buf, nic->params.mac, vector.quanta[LINK_PRIO]);
	else
		pfc_frame_build(buf, nic->params.mac, vector.enable, vector.quanta);
	counter_inc(&nic->stats.tx_pause_frames);
}

void
nic_set_drain_rate(struct node *node, uint64_t drain_rate_bps, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct rx_drain_params *params = &nic->params.receiver;
	struct nic_pause *pause = nic->pause;

	for (unsigned int prio = 0; prio < TM_CLASSES; prio++) {
		struct rx_drain *buffer = &nic->port->buffers[prio];
		struct rx_drain_params next = *params;
		uint64_t bytes = pause->slow ? rx_drain_bytes(buffer, params, now_ns) : 0;

		next.drain_rate_bps = drain_rate_bps;
		/* Without a drain rate, the host has emptied its buffers. */
		rx_drain_refill(buffer, &next, drain_rate_bps > 0 ? bytes : 0, now_ns);
	}
	params->drain_rate_bps = drain_rate_bps;
	/*
	 * No buffer is at XOFF now. nic_pause_due() releases the priorities that are still paused.
	 */
	if (drain_rate_bps == 0)
		__atomic_store_n(&nic->port->wants_xoff, 0, __ATOMIC_SEQ_CST);
	pause->slow = drain_rate_bps > 0;
	pause->sends_pause = true;
	pause->xon_ns = 0; /* check the paused priorities at once */
	node_wake(&nic->node, 0);
}

void
nic_set_pause_storm(struct node *node, bool on, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct nic_pause *pause = nic->pause;

	pause->stuck = on ? held_prios(nic) : 0;
	pause->sends_pause = true;
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		if (pause->stuck >> prio & 1)
			pfc_tx_set(&pause->pfc_tx, prio, true, now_ns);
	pause->xon_ns = 0;
	node_wake(&nic->node, 0);
}

void
nic_reset_pause(struct node *node, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);

	pfc_rx_reset(&nic->pause->pfc_rx, now_ns);
	set_paused(nic, 0);
	pfc_tx_reset(&nic->pause->pfc_tx, now_ns);
	pfc_tx_set_all(&nic->pause->pfc_tx, nic->pause->stuck);
	node_wake(&nic->node, 0);
}

uint64_t
nic_pause_next_ns(const struct nic *nic)
{
	const struct nic_pause *pause = nic->pause;
	const struct pause_storm_params storm = storm_params(nic);
	uint64_t next_ns = min_u64(pfc_tx_next_ns(&pause->pfc_tx), pause->xon_ns);

	next_ns = min_u64(next_ns, pause_storm_next_ns(&pause->storm, &storm));
	return max_u64(nic->mbufs.retry_ns, fresh_xoffs(nic) != 0 ? 0 : next_ns);
}
