/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/drop.h"

/* Out of line: it is called for drops only. */
void
sw_tell_drop(struct node_drops *drops, uint16_t in_port, const struct rte_mbuf *m,
	     enum sw_drop reason)
{
	if (drops->wanted)
		drops->dropped(drops, in_port, m, sw_drop_name(reason));
}
