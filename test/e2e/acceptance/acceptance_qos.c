/* SPDX-License-Identifier: BSD-3-Clause */
/* DSCP to queue and priority group, DWRR shares, strict priority. */
#include "acceptance.h"
#include "base/numbers/array.h"

/* Two worlds: seed 003's NX-OS policy and SONiC's defaults. */
static uint8_t
nxos_tc(uint8_t dscp)
{
	if (dscp == 24)
		return 3;
	return dscp == 48 ? 7 : 0;
}

static uint8_t
sonic_tc(uint8_t dscp)
{
	static const struct {
		uint8_t dscp, tc;
	} rows[] = {{3, 3}, {4, 4}, {5, 2}, {8, 0}, {46, 5}, {48, 6}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].dscp == dscp)
			return rows[i].tc;
	}
	return 1;
}

static uint8_t
pg_of_tc(uint8_t tc)
{
	return tc == 3 || tc == 4 || tc == 7 ? tc : 0;
}

TEST(every_dscp_gets_its_queue_and_its_group)
{
	uint8_t (*const worlds[])(uint8_t) = {nxos_tc, sonic_tc};

	for (unsigned int w = 0; w < 2; w++) {
		struct bench *b = acceptance_bench(2);
		uint64_t now_ns = 0;

		for (uint8_t dscp = 0; dscp < TM_DSCPS; dscp++)
			b->params.qos.dscp_to_tc_map[dscp] = worlds[w](dscp);
		for (uint8_t tc = 0; tc < TM_CLASSES; tc++)
			b->params.qos.tc_to_priority_group_map[tc] = pg_of_tc(tc);
		b->params.qos.pfc_enable = w == 0 ? 1 << 3 : 1 << 3 | 1 << 4;
		bench_start_learnt(b);
		for (uint8_t dscp = 0; dscp < TM_DSCPS; dscp++) {
			struct frame_spec s = {.src = 0, .dst = 1, .dscp = dscp};
			uint8_t tc = worlds[w](dscp);

			give(b, 0, make_frame(b, &s), now_ns);
			for (uint8_t i = 0; i < TM_CLASSES; i++) {
				struct mmu_pg_state pg = mmu_pg_state(sw_mmu(b->sw), 0, i);

				assert_int_equal(sw_queue_bytes(b->sw, 1, i) > 0, i == tc);
				assert_int_equal(pg.shared_bytes > 0, i == pg_of_tc(tc));
			}
			assert_int_equal(drain(b, 1, &now_ns), 1);
		}
		bench_stop(b);
	}
}

/* One burst of each class, all at once; what left of each while all were backlogged. */
TEST(dwrr_shares_are_within_five_per_cent_of_the_weights)
{
	static const struct {
		uint8_t queue, dscp, weight;
		uint16_t payload_bytes;
	} classes[] = {{0, 0, 30, 1024}, {1, 8, 20, 256}, {2, 16, 10, 512}, {3, 26, 40, 1024}};
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0, bytes[TM_CLASSES] = {0}, total = 0;

	b->params.mmu.lossless.static_th_bytes = 0;
	b->params.qos.dscp_to_tc_map[8] = 1;
	b->params.qos.dscp_to_tc_map[16] = 2;
	for (unsigned int i = 0; i < 4; i++)
		b->params.sched.dwrr_weight[classes[i].queue] = classes[i].weight;
	bench_start_learnt(b);
	for (unsigned int n = 0; n < 900; n++) {
		for (unsigned int i = 0; i < 4; i++) {
			struct frame_spec s = {.src = 0,
					       .dst = 1,
					       .dscp = classes[i].dscp,
					       .payload_bytes = classes[i].payload_bytes};

			give(b, 0, make_frame(b, &s), 0);
		}
	}
	assert_int_equal(all_drops(b), 0);
	for (unsigned int n = 0; n < 1500; n++) {
		struct rte_mbuf *m = take_next(b, 1, &now_ns);

		bytes[b->params.qos.dscp_to_tc_map[view_of(m).dscp]] += wire_bytes(m->pkt_len);
		total += wire_bytes(m->pkt_len);
		sent(m);
	}
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t share = total * classes[i].weight / 100;

		assert_true(sw_queue_bytes(b->sw, 1, classes[i].queue) > 0);
		assert_in_range(bytes[classes[i].queue], share * 95 / 100, share * 105 / 100);
	}
	drain(b, 1, &now_ns);
	bench_stop(b);
}

/* A CNP that comes while data waits is the next frame out, whatever the weights. */
TEST(strict_queue_goes_next_each_time)
{
	struct frame_spec cnp = {.src = 0, .dst = 1, .dscp = 48};
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	b->params.mmu.lossless.static_th_bytes = 0;
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 50; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	for (unsigned int i = 0; i < 50; i++) {
		struct rte_mbuf *m;

		give(b, 0, make_frame(b, &cnp), now_ns);
		m = take_next(b, 1, &now_ns);
		assert_int_equal(view_of(m).dscp, 48);
		sent(m);
		m = take_next(b, 1, &now_ns);
		assert_int_equal(roce_of(m).psn, i);
		sent(m);
	}
	bench_stop(b);
}

/* A held priority stops its queue and no other, in every combination. */
TEST(pause_stops_exactly_its_queue)
{
	for (unsigned int held = 0; held < 1 << 3; held++) {
		static const uint8_t dscps[] = {26, 4, 0};
		static const uint8_t prios[] = {3, 4, 0};
		struct bench *b = acceptance_bench(2);
		uint64_t now_ns = 0;
		uint8_t vector = 0;

		b->params.qos.dscp_to_tc_map[4] = 4;
		b->params.qos.tc_to_priority_group_map[4] = 4;
		b->params.qos.pfc_enable = 1 << 3 | 1 << 4;
		bench_start_learnt(b);
		for (unsigned int i = 0; i < 3; i++) {
			struct frame_spec s = {.src = 0, .dst = 1, .dscp = dscps[i]};

			give(b, 0, make_frame(b, &s), 0);
			vector |= (uint8_t)((held >> i & 1) << prios[i]);
		}
		give_pfc(b, 1, vector, 1000, 0);
		/* Priority 0 is not PFC-enabled: it does not obey. */
		assert_int_equal(drain(b, 1, &now_ns), 3);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(sw_pfc_rx(b->sw, 1)->stats.rx_pause_transition[prios[i]],
					 held >> i & 1);
		/* 1000 quanta at 40G are 12.8 us; without a pause three frames take 80 ns. */
		if (held & 3)
			assert_in_range(now_ns, 12800, 12900);
		else
			assert_true(now_ns < 200);
		bench_stop(b);
	}
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
