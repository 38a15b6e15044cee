/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of devices, on two net_ring devices. */
#include <pthread.h>
#include <string.h>
#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "runtime/device/port_device.h"

static uint16_t ethdevs[2];

static int
setup_devices(void **state)
{
	static const char *const names[] = {"first", "second"};

	if (start_eal(state) != 0)
		return -1;
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_ring *ring = rte_ring_create(names[i], 64, SOCKET_ID_ANY, 0);
		int port = ring == NULL ? -1 : rte_eth_from_rings(names[i], &ring, 1, &ring, 1, 0);

		if (port < 0)
			return -1;
		ethdevs[i] = (uint16_t)port;
	}
	return 0;
}

static void *
name_of_second(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)(strcmp(port_name(ethdevs[1]), "net_ring_second") == 0);
}

TEST(a_name_is_not_overwritten_by_another_thread)
{
	const char *name = port_name(ethdevs[0]);
	pthread_t thread;
	void *right;

	assert_int_equal(pthread_create(&thread, NULL, name_of_second, NULL), 0);
	assert_int_equal(pthread_join(thread, &right), 0);
	assert_non_null(right);
	assert_string_equal(name, "net_ring_first");
}

TEST(a_device_that_is_not_there_has_its_number)
{
	assert_string_equal(port_name(17), "port 17");
}

TEST_MAIN(.begin = setup_devices)
