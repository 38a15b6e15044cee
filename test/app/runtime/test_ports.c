/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of devices, on two net_ring devices. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "runtime/port/port_device.h"

static uint16_t ethdevs[2];

static int
setup_devices(void **state)
{
	static const char *const names[] = {"first", "second"};

	(void)state;
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

static void
a_name_is_not_overwritten_by_another_thread(void **state)
{
	const char *name = port_name(ethdevs[0]);
	pthread_t thread;
	void *right;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, name_of_second, NULL), 0);
	assert_int_equal(pthread_join(thread, &right), 0);
	assert_non_null(right);
	assert_string_equal(name, "net_ring_first");
}

static void
a_device_that_is_not_there_has_its_number(void **state)
{
	(void)state;
	assert_string_equal(port_name(17), "port 17");
}

int
main(int argc, char **argv)
{
	const char *eal[] = {argv[0],    "-l", "0",  "--no-huge",         "--no-shconf",
			     "--no-pci", "-m", "64", "--log-level=error", NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_not_overwritten_by_another_thread),
		cmocka_unit_test(a_device_that_is_not_there_has_its_number),
	};

	(void)argc;
	if (rte_eal_init(9, (char **)(uintptr_t)eal) < 0)
		return 1;
	return cmocka_run_group_tests(tests, setup_devices, NULL);
}
