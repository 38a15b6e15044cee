/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/sw_lost.h"

void
sw_tell_lost(struct node_drops *drops, struct node_lost_frame frame, enum sw_drop reason)
{
	frame.reason = sw_drop_name(reason);
	drops->lost(drops, &frame);
}
