/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/watch.h"

#include "common/run.h"
#include "common/say.h"
#include "switch/sw.h"
#include "switch/sw_event.h"

void
switch_watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns)
{
	struct sw_event event;
	char text[128];

	for (uint16_t port = 0; links != NULL && port < app->n_ports; port++)
		sw_set_link(app->node, port, !port_link_is_down(&links[port]), now_ns);
	while (sw_event_next(app->node, &event)) {
		/* Who looked at the link has said so. */
		if (event.kind == SW_EVENT_LINK_DOWN || event.kind == SW_EVENT_LINK_UP)
			continue;
		sw_event_text(&event, text, sizeof(text));
		say("%s", text);
	}
}
