/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/event_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quench-lab/scenario/capture_file.h"

static int
read_frames(struct config *cfg, const char *section, struct event_params *e,
	    struct config_error *err)
{
	bool has_frame = strcmp(e->frame, "none") != 0, has_file = strcmp(e->file, "none") != 0;
	char why[160], path[4096];
	int rc = 0;

	/* With both or neither the scenario is refused later. */
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

static int
read_event(struct config *cfg, const char *section, struct event_params *e,
	   struct config_error *err)
{
	const char *name = strchr(section, ' ');

	if (name == NULL || strlen(name + 1) > FLOW_NAME_CHARS)
		return config_refuse(cfg, section, NULL,
				     "a section [event NAME] with a name of 1 to 32 characters",
				     err);
	if (config_read_new(cfg, section, event_fields, event_fields_n, e, err) < 0)
		return -EINVAL;
	strcpy(e->name, name + 1);
	return read_frames(cfg, section, e, err);
}

static int
read_records(struct config *cfg, struct scenario *s, struct config_error *err)
{
	uint32_t n = 0;

	for (const char *at = NULL; (at = config_next(cfg, "record", at)) != NULL;)
		n++;
	s->records = calloc(n + 1, sizeof(*s->records));
	if (s->records == NULL)
		return config_refuse(cfg, "record", NULL, "fewer sections: out of memory", err);
	for (const char *at = NULL; (at = config_next(cfg, "record", at)) != NULL;) {
		struct record_params *r = &s->records[s->n_records++];
		const char *name = strchr(at, ' ');

		/* The name is a file's. */
		if (name == NULL || strlen(name + 1) > FLOW_NAME_CHARS ||
		    strpbrk(name + 1, "/. ") != NULL)
			return config_refuse(cfg, at, NULL,
					     "a section [record NAME] with a name of 1 to 32 "
					     "characters, no slash, dot and blank among them",
					     err);
		if (config_read_new(cfg, at, record_fields, record_fields_n, r, err) < 0)
			return -EINVAL;
		strcpy(r->name, name + 1);
	}
	return 0;
}

int
event_file_read(struct config *cfg, struct scenario *s, struct config_error *err)
{
	uint32_t n = 0;

	for (const char *at = NULL; (at = config_next(cfg, "event", at)) != NULL;)
		n++;
	s->events = calloc(n + 1, sizeof(*s->events));
	if (s->events == NULL)
		return config_refuse(cfg, "event", NULL, "fewer sections: out of memory", err);
	for (const char *at = NULL; (at = config_next(cfg, "event", at)) != NULL;)
		if (read_event(cfg, at, &s->events[s->n_events++], err) < 0)
			return -EINVAL;
	return read_records(cfg, s, err);
}
