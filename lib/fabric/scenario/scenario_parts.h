/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of scenario_resolve(), one file each. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_SCENARIO_SCENARIO_PARTS_H
#define QUENCH_FABRIC_SCENARIO_SCENARIO_PARTS_H

#include "fabric/scenario/scenario.h"

/** Build s->topology and s->routes. @return 0, or -EINVAL with fault filled in. */
int scenario_build_topology(struct scenario *s, struct scenario_fault *fault);

/** Resolve the ports of events and recordings. @return 0, or -EINVAL with fault filled in. */
int scenario_check_events(struct scenario *s, struct scenario_fault *fault);

/** Resolve the pairs of hosts of a flow. @return 0, or -EINVAL with fault filled in. */
int scenario_pair_hosts(const struct scenario *s, struct flow_params *flow,
			struct scenario_fault *fault);

/**
 * Build the graphs of jobs and add a flow for each, with its pairs. The topology must be known.
 * @return 0, or -EINVAL with fault filled in.
 */
int scenario_add_jobs(struct scenario *s, struct scenario_fault *fault);

/**
 * Give each message of an open loop QPs of its own, if qp_per_message asks for it; the pairs and
 * load_bps must be known. @return 0, or -EINVAL with fault filled in.
 */
int scenario_qp_per_message(const struct scenario *s, struct flow_params *flow,
			    struct scenario_fault *fault);

/**
 * Replace the pairs of a flow by those of these messages, which the flow then owns. Messages of one
 * pair and of one number of parts become adjacent, in the order of their starts.
 */
void scenario_group_messages(struct flow_params *flow, struct flow_message *messages, uint32_t n);

/**
 * Is there an event that injects frames? Such events, without a flow, are a valid scenario, to test
 * a switch or a NIC.
 */
bool scenario_sends_frames(const struct scenario *s);

/**
 * May frames have addresses that no host and no switch has: those of streams, and of events that
 * send or corrupt frames?
 */
bool scenario_has_strangers(const struct scenario *s);

/** Check the sections of ports against the topology. @return 0, or -EINVAL with fault filled in. */
int scenario_check_ports(const struct scenario *s, struct scenario_fault *fault);

/** Params of a switch's port: those that follow from the fabric, and over them its sections'. */
struct sw_port_params scenario_port(const struct scenario *s, uint32_t sw, uint16_t port);

/** Assign VLANs and addresses to all hosts. @return 0, or -EINVAL with fault filled in. */
int scenario_place_hosts(struct scenario *s, struct scenario_fault *fault);

/** Give hosts the keys of their [host NAME]. @return 0, or -EINVAL with fault filled in. */
int scenario_give_hosts(struct scenario *s, struct scenario_fault *fault);

/** Algorithms that pairs choose, as bits of enum cc_algorithm. */
uint32_t scenario_cc_of_flows(const struct scenario *s);

/** Find which flows wait for which. @return 0, or -EINVAL with fault filled in. */
int scenario_order_flows(struct scenario *s, struct scenario_fault *fault);

/**
 * Check that bridges and their router can deliver the flow's frames.
 * @return 0, or -EINVAL with fault filled in.
 */
int scenario_check_reach(const struct scenario *s, const struct flow_params *flow,
			 struct scenario_fault *fault);

/**
 * With bridges: add the hosts in subnets of interfaces as static neighbours, after those of the
 * file.
 * @return 0, or -ENOMEM. If tables->neighbors has changed, the caller frees it.
 */
int scenario_add_neighbors(const struct scenario *s, struct sw_tables *tables);

#endif
