/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scenario may ask for that the fluid model's equations do not know. */
#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "cc/cc.h"
#include "fabric/fluid_net_internal.h"

uint8_t
fluid_net_queue_of(const struct scenario *s, const struct flow_params *flow)
{
	int dscp = flow->dscp < 0 ? s->nic.data_dscp : flow->dscp;

	return qos_map_classify(&s->sw.qos, dscp, -1).queue;
}

static const char *
flow_fault(const struct scenario *s, const struct flow_params *flow, const char **key)
{
	const struct {
		bool broken;
		const char *key, *expected;
	} rules[] = {
		{flow->verb == NIC_UD_SEND, "verb",
		 "a verb whose flows react to CNPs: not ud_send"},
		{flow->arrival != WORKLOAD_CLOSED && flow->arrival != WORKLOAD_INCAST, "arrival",
		 "closed or incast: the fluid model's flows always have something to send"},
		{!(s->sw.wred_queues >> fluid_net_queue_of(s, flow) & 1), "dscp",
		 "one whose queue is in wred_queues"},
		/* All data of a port in one queue, or the scheduler would divide the link. */
		{fluid_net_queue_of(s, flow) != fluid_net_queue_of(s, &s->flows[0]), "dscp",
		 "one queue for all flows in the fluid model"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].broken) {
			*key = rules[i].key;
			return rules[i].expected;
		}
	}
	return NULL;
}

static int
say(struct scenario_fault *fault, const char *section, const char *name, const char *key,
    const char *expected)
{
	snprintf(fault->section, sizeof(fault->section), "%s%s%s", section, *name ? " " : "", name);
	fault->key = key;
	snprintf(fault->expected, sizeof(fault->expected), "%s", expected);
	return -ENOTSUP;
}

int
fluid_net_check(const struct scenario *s, struct scenario_fault *fault)
{
	const struct {
		bool broken;
		const char *section, *key, *expected;
	} rules[] = {
		{s->fabric.topology != TOPOLOGY_STAR, "fabric", "topology",
		 "star: the fluid model has one queue on a flow's way"},
		{s->n_switches > 0 || s->n_links > 0, "fabric", "topology",
		 "no [switch NAME] and no [link NAME]: in the fluid model all are alike"},
		{s->nic.cc != CC_DCQCN, "nic", "cc", "dcqcn: it is what the fluid model is of"},
		{s->nic.rp.rp_profile != RP_PROFILE_PAPER, "rp", "rp_profile",
		 "paper: the fluid model has no equations for mlx"},
		{!s->nic.rp.rp_clamp_tgt_rate, "rp", "rp_clamp_tgt_rate",
		 "on: in the fluid model the target follows every cut"},
		{s->nic.np.np_cnp_moderation != NP_PER_QP, "np", "np_cnp_moderation",
		 "qp: in the fluid model each has its CNPs"},
		{s->nic.np.np_min_port_cnp_interval_ns != 0, "np", "np_min_port_cnp_interval_ns",
		 "0 in the fluid model"},
		{s->nic.receiver.drain_rate_bps != 0, "receiver", "drain_rate_bps",
		 "0: the fluid model has no pauses"},
		{!s->sw.wred.wred_green_enable, "wred", "wred_green_enable",
		 "on: the fluid model is of marking"},
		{s->sw.wred.ecn != WRED_ECN_ALL, "wred", "ecn",
		 "ecn_all: the fluid model is of marking"},
		{s->sw.wred.wred_weight != 0, "wred", "wred_weight",
		 "0: the fluid model marks by the queue itself"},
		{s->sw.n_wred_profiles != 0, "wred", NULL, "one curve in the fluid model"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].broken)
			return say(fault, rules[i].section, "", rules[i].key, rules[i].expected);
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const char *key;
		const char *expected = flow_fault(s, &s->flows[i], &key);

		if (expected != NULL)
			return say(fault, "flow", s->flows[i].name, key, expected);
	}
	return 0;
}
