/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches as the benchmarks need them: what quench-switch does by default, ports of 400 Gb/s. */
#ifndef QUENCH_TEST_BENCH_SWITCH_SET_UP_H
#define QUENCH_TEST_BENCH_SWITCH_SET_UP_H

#include <string.h>

#include "base/numbers/units.h"
#include "bench.h"
#include "node/pkt_pool.h"
#include "switch/sw.h"

static inline void
switch_set_up_params(struct sw_params *p, uint16_t n_ports)
{
	sw_params_default(p, n_ports);
	p->shaper_burst_ns = 4 * NS_PER_US;
	for (uint16_t i = 0; i < n_ports; i++) {
		memcpy(p->ports[i].mac, (uint8_t[6]){2, 0, 0, 1, 0, (uint8_t)i}, 6);
		p->ports[i].link_speed_bps = 400 * GBPS;
	}
}

/** Resolve, check and build. @return owned by the caller. */
static inline struct node *
switch_set_up(struct sw_params *p, const struct sw_pools *pools)
{
	struct node *sw;
	char why[256];

	sw_params_resolve(p);
	/* As quench-switch has it. */
	p->mmu.packets = (uint32_t)mmu_params_packets(&p->mmu, 512);
	bench_check(sw_params_check(p, why, sizeof(why)) == 0, why);
	sw = sw_create(p, pools);
	bench_check(sw != NULL, "sw_create");
	return sw;
}

/** threads: of several lcores. Owned by the caller; EAL's end frees them. */
static inline struct sw_pools
switch_set_up_pools(uint32_t frames, uint16_t largest_frame, bool threads)
{
	struct sw_pools pools = {0};

	pools.frames = pkt_pool_create(&(struct pkt_pool_params){.name = "frames",
								 .n_mbufs = frames,
								 .largest_frame = largest_frame,
								 .socket = SOCKET_ID_ANY,
								 .threads = threads});
	pools.clones = pkt_pool_create(&(struct pkt_pool_params){
		.name = "clones", .n_mbufs = 256, .socket = SOCKET_ID_ANY, .threads = threads});
	bench_check(pools.frames != NULL && pools.clones != NULL, "pools");
	return pools;
}

#endif
