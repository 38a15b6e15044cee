/* SPDX-License-Identifier: BSD-3-Clause */
/* Says once if an algorithm that needs in-band telemetry hears none, or not of all hops. */
#ifndef QUENCH_APP_QUENCH_NIC_NODES_HOPS_H
#define QUENCH_APP_QUENCH_NIC_NODES_HOPS_H

#include <stdbool.h>

#include "runtime/run/run.h"
#include "nic/nic.h"

struct hops_watch {
	/* of the start; they do not change */
	int cc; /* enum cc_algorithm */
	uint8_t int_slots;
	bool said_missing, said_full;
};

/** Call now and then, in one thread. */
void hops_look(struct hops_watch *w, const struct run_app *app);

#endif
