/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders to the connection manager while the main lcore is busy. The mailbox is this test's own. */
#include <errno.h>

#include "base/numbers/units.h"
#include "quench-nic/connections/cm_orders.h"
#include "unit/cases.h"

static int busy, end; /* calls that come too early; what the last one returns */

int
mailbox_call(struct mailbox *m, void (*work)(void *arg, uint64_t now_ns), void *arg)
{
	(void)m;
	if (busy-- > 0)
		return -ETIMEDOUT;
	if (end == 0)
		work(arg, NS_PER_SEC);
	return end;
}

static uint32_t sent;

static void
on_send(void *arg, const struct cm_peer *to, const struct cm_msg *msg)
{
	(void)arg;
	(void)to;
	sent = msg->attribute;
}

static struct cm *
create(void)
{
	static struct cm_stats stats;
	static const struct cm_params params = {
		.max_connections = 4,
		.response_timeout = 20,
		.max_retries = 3,
		.ip = {.version = 4, .addr = {10, 0, 0, 1}},
	};
	struct cm *cm = cm_create(&params, &stats, &(struct cm_ops){.send = on_send}, NULL);

	assert_non_null(cm);
	return cm;
}

TEST(order_waits_until_the_main_lcore_has_time)
{
	const struct cm_orders o = {.cm = create()};
	const struct cm_peer to = {.ip = {.version = 4, .addr = {10, 0, 0, 2}}};
	uint32_t id = cm_order_connect(&o, &to, &(struct cm_terms){.mtu_code = 3},
				       &(struct cm_end){.qpn = 7});

	assert_int_not_equal(id, CM_NONE);
	assert_int_equal(sent, CM_REQ);
	busy = 2;
	cm_order_all(&o, &(struct cm_order){.kind = CM_ORDER_END, .id = id}, 1);
	assert_int_equal(sent, CM_REJ);
	cm_destroy(o.cm);
}

TEST(order_of_a_program_that_ends_is_dropped)
{
	const struct cm_orders o = {.cm = create()};

	busy = 0;
	end = -ESHUTDOWN;
	cm_order_all(&o, &(struct cm_order){.kind = CM_ORDER_END, .id = 1}, 1);
	end = 0;
	cm_destroy(o.cm);
}

TEST_MAIN(.begin = NULL)
