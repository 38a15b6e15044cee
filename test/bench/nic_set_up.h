/* SPDX-License-Identifier: BSD-3-Clause */
/* NICs as the benchmarks need them: what quench-nic does by default, host n at 10.0.0.n. */
#ifndef QUENCH_TEST_BENCH_NIC_SET_UP_H
#define QUENCH_TEST_BENCH_NIC_SET_UP_H

#include <string.h>

#include "base/numbers/units.h"
#include "bench.h"
#include "nic/nic.h"
#include "node/pkt_pool.h"
#include "../host_path.h"

static inline void
nic_set_up_params(struct nic_params *p, uint8_t host, uint64_t link_speed_bps)
{
	nic_params_default(p);
	p->shaper_burst_ns = 2 * NS_PER_US;
	memcpy(p->mac, (uint8_t[6]){2, 0, 0, 0, 0, host}, 6);
	p->ip = (struct field_ip){4, {10, 0, 0, host}};
	p->link_speed_bps = link_speed_bps;
}

/** A WRITE requester's QP 17 towards a host, which never ends; the rest is the bench's. */
static inline struct nic_qp_params
nic_set_up_qp(uint8_t peer)
{
	return (struct nic_qp_params){
		.peer_mac = {2, 0, 0, 0, 0, peer},
		.peer_ip = {4, {10, 0, 0, peer}},
		.peer_qpn = 17,
		.requester = true,
		.mtu_bytes = 1024,
		.message_bytes = 1 << 20,
		.stop_ns = NEVER_NS,
		.depth = 1,
	};
}

/** Owned by the caller, who frees them with nic_set_up_pools_free(). */
static inline void
nic_set_up_pools(struct nic_pools *pools, uint32_t data, uint16_t mtu_bytes, uint32_t control)
{
	pools->data = nic_data_pool_create(
		&(struct pkt_pool_params){
			.name = "data", .n_mbufs = data, .socket = SOCKET_ID_ANY, .threads = true},
		mtu_bytes);
	pools->control = pkt_pool_create(&(struct pkt_pool_params){
		.name = "control",
		.n_mbufs = control,
		.largest_frame = nic_largest_frame(8), /* a few bytes of payload */
		.socket = SOCKET_ID_ANY,
	});
	bench_check(pools->data != NULL && pools->control != NULL, "pools");
}

static inline void
nic_set_up_pools_free(struct nic_pools *pools)
{
	pkt_pool_destroy(pools->data);
	pkt_pool_destroy(pools->control);
}

#endif
