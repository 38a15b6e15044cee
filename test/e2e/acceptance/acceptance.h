/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the acceptance tests share: a switch on the bench of the unit tests whose egress ports are
 * held by pauses from their peers, so that frames stay where the test put them, in virtual time.
 * Host h sits on port h; all frames are RoCE data of DATA_BYTES unless said.
 */
#ifndef QUENCH_TEST_E2E_ACCEPTANCE_ACCEPTANCE_H
#define QUENCH_TEST_E2E_ACCEPTANCE_ACCEPTANCE_H

#include "unit/switch/sw_test.h"
#include "tm/buffer/mmu.h"

/* Both in frames of DATA_BYTES, so that edges fall on whole packets. */
#define LIMIT 10
#define HEADROOM 5
#define XON_BELOW 3 /* this many frames below the limit */

/* Ports at 40G, a static limit for group 3, its headroom, nothing reserved. */
static inline struct bench *
acceptance_bench(uint16_t n_ports)
{
	struct bench *b = bench_with_ports(n_ports);

	b->params.mmu.lossless = (struct buffer_profile){
		.static_th_bytes = LIMIT * DATA_BYTES,
		.xon_offset_bytes = XON_BELOW * DATA_BYTES,
		.xoff_bytes = HEADROOM * DATA_BYTES,
	};
	b->params.mmu.egress_lossy = (struct buffer_profile){0};
	b->params.mmu.lossy = (struct buffer_profile){0};
	b->params.wred_queues = 0;
	return b;
}

/* The peer of a port holds a priority, for as long as a test takes. */
static inline void
hold(struct bench *b, uint16_t port, uint8_t prio, uint64_t now_ns)
{
	give_pfc(b, port, (uint8_t)(1u << prio), 65535, now_ns);
}

static inline void
let_go(struct bench *b, uint16_t port, uint8_t prio, uint64_t now_ns)
{
	give_pfc(b, port, (uint8_t)(1u << prio), 0, now_ns);
}

/* The quanta that the port tells its peer now for a priority, or -1: no frame is due. */
static inline int
told(struct bench *b, uint16_t port, uint8_t prio, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	struct mac_control mc;
	int quanta;

	if (m == NULL)
		return -1;
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.enable, 1 << prio);
	quanta = mc.quanta[prio];
	sent(m);
	return quanta;
}

static inline uint64_t
peak(const struct bench *b, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	return mmu_watermark_bytes(sw_mmu(b->sw), kind, port, index);
}

#endif
