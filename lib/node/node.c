/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/node.h"

#include <stdio.h>

void
node_say_lost(const struct node_lost_frame *frame, char text[NODE_WHY_CHARS])
{
	char from[32] = "made here";

	if (frame->from_port != NODE_NO_PORT)
		snprintf(from, sizeof(from), "received by port %u", frame->from_port);
	snprintf(text, NODE_WHY_CHARS, "dropped: %s, %s", frame->reason, from);
}
