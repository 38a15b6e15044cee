/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/sections/event_file.h"

#include <string.h>

#include "quench-lab/sections/capture_file.h"

int
event_file_finish(struct config *cfg, const char *section, void *item, void *arg,
		  struct config_error *err)
{
	struct event_params *e = item;
	bool has_frame = strcmp(e->frame, "none") != 0, has_file = strcmp(e->file, "none") != 0;
	char why[160], path[4096];
	int rc = 0;

	(void)arg;
	/* A scenario with both or neither is refused later. */
	if (e->action != EVENT_SEND || has_frame == has_file)
		return 0;
	if (has_frame) {
		rc = capture_from_hex(e->frame, &e->send, why, sizeof(why));
	} else {
		config_beside(cfg, e->file, path, sizeof(path));
		rc = capture_from_file(path, &e->send, why, sizeof(why));
	}
	return rc == 0 ? 0 : config_refuse(cfg, section, has_frame ? "frame" : "file", why, err);
}
