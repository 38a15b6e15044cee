/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC whose thread of connections did not start, beside peers that ask. */
#include <errno.h>

#include "nic/gsi/gsi.h"
#include "quench-nic/connections/connections.h"
#include "unit/nic/nic_test.h"
#include "wire/mad/cm_ip.h"

/* In place of the runtime's. */
int
control_thread_start(struct control_thread *t, const char *name, void (*run)(void *arg), void *arg)
{
	(void)t;
	(void)name;
	(void)run;
	(void)arg;
	return -EAGAIN;
}

void
control_thread_join(struct control_thread *t)
{
	(void)t;
	fail();
}

/* Many REQs: for those beyond 1/8 of the connections, the manager wants offers. */
TEST(nic_without_the_thread_of_connections_refuses_peers)
{
	struct nic_nodes nodes = {0};
	struct flow_registry registry = {.nodes = &nodes};
	struct active_config active = {0};
	struct connections c;
	struct cm_msg req = {.attribute = CM_REQ,
			     .service_id = cm_ip_service(7471),
			     .transport = CM_TRANSPORT_RC,
			     .mtu_code = 3};
	struct cm_ip header = {.ip_version = 4, .sport = 1};
	const struct cm_peer from = {.ip = {.version = 4, .addr = {10, 0, 0, 2}}};

	solo_create(&solo, 256);
	assert_int_equal(nic_gsi_open(&solo.nic, 1, solo.pools.control), 0);
	nodes.node[0] = solo.nic;
	assert_int_equal(connections_start(&c, &active, &registry), -EAGAIN);
	assert_true(connections_are_done(&c));
	memcpy(header.src_ip, from.ip.addr, 4);
	cm_ip_build(req.private_data, &header);
	for (uint32_t i = 1; i <= NIC_CM_CONNECTIONS; i++) {
		req.local_id = req.qpn = i;
		cm_on_message(nic_cm(solo.nic), &from, CM_OK, &req, solo.now_ns);
	}
	assert_int_equal(nic_stats(solo.nic)->cm.cm_rejects_sent,
			 NIC_CM_CONNECTIONS - NIC_CM_CONNECTIONS / 8);
	assert_false(connections_leave(&c, solo.now_ns));
	connections_stop(&c);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
