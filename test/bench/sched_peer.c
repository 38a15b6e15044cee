/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_sched.h>

#include "base/numbers/units.h"
#include "bench.h"
#include "sched_peer.h"

struct rte_sched_port *
sched_peer_create(uint16_t red_min_frames)
{
	static struct rte_sched_subport_profile_params subport_profile;
	static struct rte_sched_pipe_params pipe;
	static struct rte_sched_cman_params cman;
	const uint64_t rate = 400 * GBPS / 8;
	struct rte_sched_port_params port = {
		.name = "bench",
		.rate = rate,
		.mtu = 1522,
		.frame_overhead = GAP_BYTES + FCS_BYTES,
		.n_subports_per_port = 1,
		.subport_profiles = &subport_profile,
		.n_subport_profiles = 1,
		.n_max_subport_profiles = 1,
		.n_pipes_per_subport = 1,
	};
	struct rte_sched_subport_params subport = {
		.n_pipes_per_subport_enabled = 1,
		.pipe_profiles = &pipe,
		.n_pipe_profiles = 1,
		.n_max_pipe_profiles = 1,
		.cman_params = &cman,
	};
	struct rte_sched_port *p;

	subport_profile.tb_rate = pipe.tb_rate = rate;
	subport_profile.tb_size = pipe.tb_size = 1000000;
	subport_profile.tc_period = pipe.tc_period = 10;
	pipe.tc_ov_weight = 1;
	cman.cman_mode = RTE_SCHED_CMAN_RED;
	for (int i = 0; i < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; i++) {
		subport_profile.tc_rate[i] = pipe.tc_rate[i] = rate;
		subport.qsize[i] = SCHED_PEER_QUEUE_FRAMES;
		for (int c = 0; c < RTE_COLORS; c++)
			cman.red_params[i][c] = (struct rte_red_params){.min_th = red_min_frames,
									.max_th = 200,
									.maxp_inv = 100,
									.wq_log2 = 9};
	}
	for (int i = 0; i < RTE_SCHED_BE_QUEUES_PER_PIPE; i++)
		pipe.wrr_weights[i] = 1;
	p = rte_sched_port_config(&port);
	bench_check(p != NULL, "rte_sched_port_config");
	bench_check(rte_sched_subport_config(p, 0, &subport, 0) == 0, "rte_sched_subport_config");
	bench_check(rte_sched_pipe_config(p, 0, 0, 0) == 0, "rte_sched_pipe_config");
	return p;
}
