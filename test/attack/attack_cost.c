/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each attack on a switch without other traffic, for cost.py, which runs this under callgrind: a
 * dump of the counters after each attack is named after it, and a line on standard output has the
 * name and the frames received and sent meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

#include "attack/town.h"

#define WARM_UP 2000u
#define FRAMES 4000u

static void
begin(void)
{
	CALLGRIND_ZERO_STATS;
}

int
main(void)
{
	town_open();
	for (unsigned int i = 0; i < attacks_n; i++) {
		struct town_result r;

		if (attacks[i].frame == NULL)
			continue;
		r = town_run_alone(&attacks[i], WARM_UP, FRAMES, begin);
		CALLGRIND_DUMP_STATS_AT(attacks[i].name);
		printf("%s %" PRIu64 " %" PRIu64 "\n", attacks[i].name, r.rx_frames, r.tx_frames);
	}
	return 0;
}
