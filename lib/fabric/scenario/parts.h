/* SPDX-License-Identifier: BSD-3-Clause */
/* What scenario_resolve() is made of, a file for each part. Nothing outside lib/fabric includes
 * it. */
#ifndef QUENCH_FABRIC_SCENARIO_PARTS_H
#define QUENCH_FABRIC_SCENARIO_PARTS_H

#include "fabric/scenario/scenario.h"

/** Build s->topology and s->routes. @return 0, or -EINVAL with fault filled in. */
int scenario_build_topology(struct scenario *s, struct scenario_fault *fault);

/** Find the ends that events and recordings are about. @return 0, or -EINVAL with fault filled
 * in. */
int scenario_check_events(struct scenario *s, struct scenario_fault *fault);

/** Find the pairs of hosts of a flow. @return 0, or -EINVAL with fault filled in. */
int scenario_pair_hosts(const struct scenario *s, struct flow_params *flow,
			struct scenario_fault *fault);

/** Find VLANs and addresses of all hosts. @return 0, or -EINVAL with fault filled in. */
int scenario_place_hosts(struct scenario *s, struct scenario_fault *fault);

/** Do bridges and their router bring the flow's frames to where they go? @return as above. */
int scenario_check_reach(const struct scenario *s, const struct flow_params *flow,
			 struct scenario_fault *fault);

/**
 * Of bridges: hosts behind interfaces as static neighbours, after those of the file.
 * @return 0: tables->neighbors is the caller's to free if it is another one; or -ENOMEM.
 */
int scenario_add_neighbors(const struct scenario *s, struct sw_tables *tables);

#endif
