/* SPDX-License-Identifier: BSD-3-Clause */
#include "tm/pfc/pfc_walk.h"

#include <stdio.h>

#include "base/numbers/units.h"
#include "base/threads/counter.h"

static void
put(struct walk *w, const char *way, char prio, const char *what, const char *help, uint64_t value)
{
	char name[40];

	snprintf(name, sizeof(name), "%s_prio%c_pause%s", way, prio, what);
	walk_number(w, WALK_COUNTER, name, help, value);
}

static void
walk_rx(struct walk *w, const struct pfc_rx *rx, uint8_t prio, char digit, uint64_t now_ns)
{
	bool no = w->names_only;

	put(w, "rx", digit, "", "pause frames received for the priority",
	    no ? 0 : counter_read(&rx->stats.rx_pause[prio]));
	put(w, "rx", digit, "_transition",
	    "pauses of the priority that the peer began and that have ended",
	    no ? 0 : counter_read(&rx->stats.rx_pause_transition[prio]));
	put(w, "rx", digit, "_duration_us", "time during which the peer paused the priority",
	    no ? 0 : pfc_rx_duration_ns(rx, prio, now_ns) / NS_PER_US);
}

static void
walk_tx(struct walk *w, const struct pfc_tx *tx, uint8_t prio, char digit, uint64_t now_ns)
{
	bool no = w->names_only;

	put(w, "tx", digit, "", "pause frames sent for the priority",
	    no ? 0 : counter_read(&tx->stats.tx_pause[prio]));
	put(w, "tx", digit, "_transition",
	    "pauses of the priority that the program began and that have ended",
	    no ? 0 : counter_read(&tx->stats.tx_pause_transition[prio]));
	put(w, "tx", digit, "_duration_us", "time during which the program paused the priority",
	    no ? 0 : pfc_tx_duration_ns(tx, prio, now_ns) / NS_PER_US);
}

void
pfc_walk(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx, uint64_t now_ns)
{
	const uint8_t n = w->names_only ? 1 : TM_CLASSES;

	w->object = "pfc";
	for (uint8_t prio = 0; prio < n; prio++)
		walk_rx(w, rx, prio, w->names_only ? 'N' : (char)('0' + prio), now_ns);
	for (uint8_t prio = 0; prio < n; prio++)
		walk_tx(w, tx, prio, w->names_only ? 'N' : (char)('0' + prio), now_ns);
}

void
pfc_walk_link(struct walk *w, const struct pfc_rx *rx, const struct pfc_tx *tx, uint64_t now_ns)
{
	w->object = "pfc";
	WALK(number, w, COUNTER, "rx_global_pause_transition",
	     "802.3x pauses of the port that the peer began and that have ended",
	     counter_read(&rx->stats.rx_pause_transition[0]));
	WALK(number, w, COUNTER, "rx_global_pause_duration_us",
	     "time during which the peer paused the port with 802.3x link pause",
	     pfc_rx_duration_ns(rx, 0, now_ns) / NS_PER_US);
	WALK(number, w, COUNTER, "tx_global_pause_transition",
	     "802.3x pauses of the peer that the program began and that have ended",
	     counter_read(&tx->stats.tx_pause_transition[0]));
	WALK(number, w, COUNTER, "tx_global_pause_duration_us",
	     "time during which the program paused the peer with 802.3x link pause",
	     pfc_tx_duration_ns(tx, 0, now_ns) / NS_PER_US);
}
