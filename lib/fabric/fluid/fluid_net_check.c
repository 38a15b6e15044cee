/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for scenario features that the fluid model does not cover. */
#include <errno.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "cc/cc.h"
#include "fabric/fluid/fluid_net_state.h"

uint8_t
fluid_net_queue_of(const struct scenario *s, const struct sw_params *sw,
		   const struct flow_params *flow)
{
	int dscp = flow->dscp < 0 ? s->nic.data_dscp : flow->dscp;

	return qos_map_classify(&sw->qos, dscp, -1).queue;
}

static int
say(struct scenario_fault *fault, const char *section, const char *name, const char *key,
    const char *expected)
{
	scenario_refuse(fault, section, name, key, expected);
	return -ENOTSUP;
}

static int
check_flow(const struct flow_params *flow, struct scenario_fault *fault)
{
	const struct {
		bool broken;
		const char *key, *expected;
	} rules[] = {
		{flow->verb == NIC_UD_SEND, "verb",
		 "a verb whose flows react to CNPs: not ud_send"},
		{flow->arrival != WORKLOAD_CLOSED && flow->arrival != WORKLOAD_INCAST, "arrival",
		 "closed or incast: the fluid model's flows always have something to send"},
		{flow->stopped, "stopped", "off: the fluid model's flows start at start_ns"},
		{scenario_has_after(flow), "after",
		 "none: the fluid model's flows start at start_ns"},
		{scenario_has_barrier(flow), "barrier",
		 "none: the fluid model's flows always have something to send"},
		{flow->trace_after != NULL, "trace",
		 "a file whose messages do not wait for others, in the fluid model"},
		{flow->messages_of_pairs != NULL, "trace",
		 "at most 4096 messages in the fluid model"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (rules[i].broken)
			return say(fault, "flow", flow->name, rules[i].key, rules[i].expected);
	return 0;
}

static bool
has_own_scheme(const struct sw_params *sw)
{
	for (unsigned int port = 0; port < sw->n_ports; port++)
		for (unsigned int queue = 0; queue < TM_CLASSES; queue++)
			if (sw->queues[port][queue].marking != MARK_WRED)
				return true;
	return false;
}

/* name: the name of the switch's section, or "" for the params of all switches. */
static int
check_switch(const struct scenario *s, const struct sw_params *sw, const char *name,
	     struct scenario_fault *fault)
{
	const char *section = *name ? "switch" : "wred";
	const struct {
		bool broken;
		const char *key, *expected;
	} rules[] = {
		{!sw->wred.wred_green_enable, "wred_green_enable",
		 "on: the fluid model needs marking"},
		{sw->wred.ecn != WRED_ECN_ALL, "ecn", "ecn_all: the fluid model needs marking"},
		{sw->wred.wred_weight != 0, "wred_weight",
		 "0: the fluid model marks by the instantaneous queue"},
		{sw->n_wred_profiles != 0, NULL, "one curve in the fluid model"},
		{has_own_scheme(sw), NULL, "no queue with a marking other than wred"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (rules[i].broken)
			return say(fault, section, name, rules[i].key, rules[i].expected);
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];
		uint8_t queue = fluid_net_queue_of(s, sw, flow);

		if (!(sw->wred_queues >> queue & 1))
			return say(fault, "flow", flow->name, "dscp",
				   "one whose queue is in wred_queues");
		/*
		 * All data of a port must use one queue: with several, the scheduler would divide
		 * the link.
		 */
		if (queue != fluid_net_queue_of(s, sw, &s->flows[0]))
			return say(fault, "flow", flow->name, "dscp",
				   "one queue for all flows in the fluid model");
	}
	return 0;
}

static int
check_link(const struct link_section *link, struct scenario_fault *fault)
{
	if (link->frame_loss_ppb != 0)
		return say(fault, "link", link->name, "frame_loss_ppb",
			   "0: the fluid model loses nothing");
	if (link->bit_errors_per_tbit != 0)
		return say(fault, "link", link->name, "bit_errors_per_tbit",
			   "0: the fluid model loses nothing");
	return 0;
}

static int
check_hosts(const struct scenario *s, struct scenario_fault *fault)
{
	const struct {
		bool broken;
		const char *section, *key, *expected;
	} rules[] = {
		{s->nic.cc != CC_DCQCN, "nic", "cc",
		 "dcqcn: the fluid model has no other algorithm"},
		{s->nic.cc_of_flows & ~(1u << CC_DCQCN), "nic", "cc",
		 "dcqcn for all flows: the fluid model has no other algorithm"},
		{s->nic.rp.rp_profile != RP_PROFILE_PAPER, "rp", "rp_profile",
		 "paper: the fluid model has no equations for mlx"},
		{!s->nic.rp.rp_clamp_tgt_rate, "rp", "rp_clamp_tgt_rate",
		 "on: in the fluid model the target follows every cut"},
		{s->nic.np.np_cnp_moderation != NP_PER_QP, "np", "np_cnp_moderation",
		 "qp: in the fluid model each QP has separate CNPs"},
		{s->nic.np.np_min_port_cnp_interval_ns != 0, "np", "np_min_port_cnp_interval_ns",
		 "0 in the fluid model"},
		{s->nic.receiver.drain_rate_bps != 0, "receiver", "drain_rate_bps",
		 "0: the fluid model has no pauses"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (rules[i].broken)
			return say(fault, rules[i].section, "", rules[i].key, rules[i].expected);
	return 0;
}

/*
 * Refuse every event that changes the equations; ignoring it would give results that are valid only
 * for a scenario without the event. Ends of events that have not begun, and errors set to 0, change
 * nothing; pauses are outside the model altogether. The other actions read or count packets.
 */
static const char *
event_expected(const struct event_params *e)
{
	switch (e->action) {
	case EVENT_SET:
		return "another one: the fluid model's parameters do not change";
	case EVENT_LINK_DOWN:
	case EVENT_SWITCH_RESTART:
		return "another one: links of the fluid model stay up";
	case EVENT_TX_DISABLE:
		return "another one: ports of the fluid model always send";
	case EVENT_PAUSE_STORM:
		return "another one: the fluid model has no pauses";
	case EVENT_SLOW_RECEIVER:
		return e->drain_rate_bps > 0 ? "another one: the fluid model has no pauses" : NULL;
	case EVENT_LOSS:
	case EVENT_CORRUPT:
		return e->frame_ppb > 0 ? "another one: the fluid model loses nothing" : NULL;
	case EVENT_BIT_ERRORS:
		return e->bit_errors_per_tbit > 0 ? "another one: the fluid model loses nothing"
						  : NULL;
	case EVENT_REORDER:
		return e->frame_ppb > 0 ? "another one: the fluid model does not reorder" : NULL;
	case EVENT_DELAY:
		return "another one: delays of the fluid model do not change";
	case EVENT_SEND:
		return "another one: the fluid model has no injected frames";
	default:
		return NULL;
	}
}

static int
check_event(const struct scenario *s, const struct event_params *e, struct scenario_fault *fault)
{
	const char *expected = event_expected(e);

	if (expected == NULL || e->at_ns > s->fabric.duration_ns)
		return 0;
	return say(fault, "event", e->name, "action", expected);
}

/* A link of the model has the rate of its cable. */
static int
check_port(const struct port_section *port, struct scenario_fault *fault)
{
	for (unsigned int k = 0; k < sw_port_fields_n; k++) {
		const char *key = sw_port_fields[k].name;

		if (port->given >> k & 1 &&
		    (strcmp(key, "shaper_rate_bps") == 0 || strcmp(key, "tx_disabled") == 0))
			return say(fault, port->name, "", key,
				   "no such key: ports of the fluid model send at the link's rate");
	}
	return 0;
}

int
fluid_net_check(const struct scenario *s, struct scenario_fault *fault)
{
	int rc = s->fabric.ip_version == FABRIC_IPV4
			 ? check_hosts(s, fault)
			 : say(fault, "fabric", "", "ip_version",
			       "4: the packets of the fluid model are IPv4");

	if (rc == 0 && s->n_jobs > 0)
		rc = say(fault, "job", s->jobs[0].name, NULL,
			 "no job: the fluid model's flows always have something to send");
	for (uint32_t i = 0; rc == 0 && i < s->n_flows; i++)
		rc = check_flow(&s->flows[i], fault);
	if (rc == 0 && s->n_streams > 0)
		rc = say(fault, "stream", s->streams[0].name, NULL,
			 "no stream: the fluid model has no raw frames");
	for (uint32_t i = 0; rc == 0 && i < s->n_ports; i++)
		rc = check_port(&s->ports[i], fault);
	for (uint32_t i = 0; rc == 0 && i < s->n_events; i++)
		rc = check_event(s, &s->events[i], fault);
	for (uint32_t i = 0; rc == 0 && i < s->n_links; i++)
		rc = check_link(&s->links[i], fault);
	/* If every switch has a section, only those count. */
	if (rc == 0 && s->n_switches < s->topology->n_switches)
		rc = check_switch(s, &s->sw, "", fault);
	for (uint32_t i = 0; rc == 0 && i < s->n_switches; i++)
		rc = check_switch(s, &s->switches[i].sw, s->switches[i].name, fault);
	return rc;
}
