/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/change/sw_reload.h"

#include "switch/monitor/sw_dcbx.h"
#include "switch/change/forwarding.h"
#include "switch/monitor/link.h"
#include "switch/control/owners.h"
#include "switch/monitor/sw_pfcwd.h"
#include "switch/control/control_state.h"
#include "switch/egress/egress.h"
#include "switch/egress/pfc.h"
#include "switch/core/settings.h"
#include "tm/buffer/mmu_part.h"

const char *
sw_reload_fault(const struct sw_params *now, const struct sw_params *next)
{
	/* Ending a pause of one kind and beginning one of the other would need frames of both. */
	for (uint16_t i = 0; i < now->n_ports && i < next->n_ports; i++) {
		if ((now->ports[i].flow_control == SW_FLOW_PAUSE) !=
		    (next->ports[i].flow_control == SW_FLOW_PAUSE))
			return "flow_control cannot change to or from pause while the program runs";
	}
	return NULL;
}

void
sw_running_params(const struct node *node, struct sw_params *params)
{
	for (uint16_t i = 0; i < params->n_ports; i++) {
		params->ports[i].tx_disabled = sw_tx_disabled(node, i);
		params->ports[i].pfc_delay_quanta = sw_pfc_delay(node, i);
	}
	params->pfcwd.big_red_switch = sw_big_red_switch(node);
}

void
sw_reload(struct node *node, const struct sw_params *params, struct sw_forwarding *next,
	  uint64_t now_ns)
{
	struct sw *front = sw_of(node);

	assert(sw_reload_is_done(node) && params->n_ports == front->n_ports);
	front->control->watermark_interval_ns = params->watermark_interval_ns;
	front->control->next_clear_ns = 0;
	sw_pfcwd_set_params(front, params, now_ns);
	sw_dcbx_set_params(front, params, now_ns);
	for (uint16_t i = 0; i < params->n_ports; i++) {
		sw_set_shutdown(node, i, params->ports[i].shutdown, now_ns);
		sw_set_tx_disabled(node, i, params->ports[i].tx_disabled);
		sw_set_pfc_delay(node, i, params->ports[i].pfc_delay_quanta);
	}
	sw_forwarding_begin(front, next, params);
	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		__atomic_store_n(&sw->request.reload, params, __ATOMIC_RELEASE);
		sw_post_request(&sw->request, SW_REQUEST_RELOAD);
	}
}

/* Recompute XOFF of all groups of a port, including those that are no longer lossless. */
static void
update_xoffs(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		bool xoff = sw->ports[port].xoff_pgs >> pg & 1;
		bool wanted = mmu_pg_wants_xoff(sw->mmu, port, pg, xoff);

		if (wanted != xoff)
			sw_pfc_set_xoff(sw, port, pg, wanted, now_ns);
	}
}

void
sw_do_reload(struct sw *sw, uint64_t now_ns)
{
	const struct sw_params *params = __atomic_load_n(&sw->request.reload, __ATOMIC_ACQUIRE);

	if (params == NULL)
		return;
	sw_set_classes(sw, params);
	sw_forwarding_adopt(sw, now_ns);
	mmu_part_set_params(sw->mmu, sw->shard.index, &params->mmu);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		if (!sw_owns(&sw->shard, port))
			continue;
		sw_set_port(sw, port, params, now_ns);
		sw_pfc_set_port(sw, port, params);
		update_xoffs(sw, port, now_ns);
		sw_port_apply(sw, port, now_ns);
	}
	__atomic_store_n(&sw->request.reload, NULL, __ATOMIC_RELEASE);
}
