/* SPDX-License-Identifier: BSD-3-Clause */
/* What sysfs says about PCIe, as a rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/units.h"
#include "common/port_probe.h"

static void
pcie_rates_are_those_of_the_generations(void **state)
{
	static const struct {
		const char *speed, *width;
		uint64_t mbps;
	} rows[] = {
		{"2.5 GT/s PCIe\n", "1\n", 2000},
		{"5.0 GT/s PCIe\n", "8\n", 32000},
		{"8.0 GT/s PCIe\n", "8\n", 63015},
		{"8.0 GT/s PCIe\n", "16\n", 126030},
		{"16.0 GT/s PCIe\n", "16\n", 252061},
		{"32.0 GT/s PCIe\n", "16\n", 504123},
		{"Unknown\n", "0\n", 0},
		{"8.0 GT/s PCIe\n", "0\n", 0},
		{"", "", 0},
		{"8.0 GT/s PCIe\n", "255\n", 0},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(pcie_rate_bps(rows[i].speed, rows[i].width) / MBPS, rows[i].mbps);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pcie_rates_are_those_of_the_generations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
