/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of a port divided among lcores. */

#include <errno.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "runtime/poll/port_queues.h"

#define OFF NIC_CONTROL_TX_QUEUE_OFF
#define ON NIC_CONTROL_TX_QUEUE_ON
#define AUTO NIC_CONTROL_TX_QUEUE_AUTO

TEST(lcores_get_the_queues_that_there_are)
{
	static const struct {
		struct port_offer offer;
		int wish;
		uint16_t n;
		struct port_plan plan;
	} rows[] = {
		/* A NIC with queues enough, one with too few for control, one without RSS. */
		{{64, 64, false}, AUTO, 4, {4, 4, 8, true}},
		{{64, 64, false}, ON, 4, {4, 4, 8, true}},
		{{64, 64, false}, OFF, 4, {4, 4, 4, false}},
		{{8, 7, false}, AUTO, 4, {4, 4, 4, false}},
		{{1, 16, false}, AUTO, 4, {4, 1, 8, true}},
		{{1, 1, false}, AUTO, 1, {1, 1, 1, false}},
		/* Rather fewer lcores than no control queue, when it must be. */
		{{8, 7, false}, ON, 4, {3, 3, 6, true}},
		/* Queues that are another's as well. */
		{{16, 16, true}, AUTO, 2, {2, 2, 2, false}},
		{{16, 16, true}, ON, 2, {2, 4, 4, true}},
		{{16, 16, true}, ON, 1, {1, 2, 2, true}},
		{{2, 16, true}, ON, 2, {1, 2, 2, true}},
		{{1, 1, true}, AUTO, 4, {1, 1, 1, false}},
		{{1, 16, true}, OFF, 4, {4, 1, 4, false}},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct port_plan plan;

		assert_int_equal(port_plan(&rows[i].offer, rows[i].wish, rows[i].n, &plan), 0);
		assert_int_equal(plan.n_lcores, rows[i].plan.n_lcores);
		assert_int_equal(plan.rx_queues, rows[i].plan.rx_queues);
		assert_int_equal(plan.tx_queues, rows[i].plan.tx_queues);
		assert_int_equal(plan.control_apart, rows[i].plan.control_apart);
	}
}

TEST(what_must_be_and_cannot_is_refused)
{
	static const struct port_offer offers[] = {{8, 1, false}, {1, 2, true}, {2, 1, true}};
	struct port_plan plan;

	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(port_plan(&offers[i], ON, 1, &plan), -EINVAL);
}

/* Every queue of the device is somebody's, and nobody has another's. */
TEST(each_queue_has_one_owner)
{
	static const struct port_offer offers[] = {{64, 64, false}, {64, 64, true}, {1, 64, false}};

	for (unsigned int i = 0; i < 3; i++)
		for (uint16_t n = 1; n <= 8; n++)
			for (int wish = OFF; wish <= ON; wish++) {
				uint8_t rx[64] = {0}, tx[64] = {0};
				struct port_plan plan;

				if (port_plan(&offers[i], wish, n, &plan) != 0)
					continue;
				for (uint16_t l = 0; l < n; l++) {
					struct poll_queues q = port_plan_queues(&plan, l);

					tx[q.data]++;
					if (q.control_apart)
						tx[q.control]++;
					for (uint16_t r = q.rx_first; r < q.rx_end; r += q.rx_step)
						rx[r]++;
				}
				for (uint16_t q = 0; q < 64; q++) {
					assert_int_equal(rx[q], q < plan.rx_queues);
					assert_int_equal(tx[q], q < plan.tx_queues);
				}
			}
}

TEST_MAIN()
