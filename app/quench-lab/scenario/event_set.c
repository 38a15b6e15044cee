/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/scenario/event_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "runtime/notice/doubts.h"
#include "quench-lab/scenario/scenario_rows.h"

/* An event with action = set begins or ends. */
struct turn {
	uint64_t at_ns;
	uint32_t event;
	bool ends;
};

struct turns {
	struct turn *list;
	uint32_t n;
	uint32_t *active; /* events, in the order in which they began */
	uint32_t n_active;
	struct config **layers; /* of the active ones */
};

/* The order of fabric/events: by time, and at equal times as in the file. */
static int
by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->event < y->event ? -1 : 1;
}

static int
list_turns(const struct scenario *s, struct turns *t)
{
	t->list = calloc(2ull * s->n_events + 1, sizeof(*t->list));
	t->active = calloc(s->n_events + 1ull, sizeof(*t->active));
	t->layers = calloc(s->n_events + 1ull, sizeof(struct config *));
	if (t->list == NULL || t->active == NULL || t->layers == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *e = &s->events[i];

		if (e->action != EVENT_SET)
			continue;
		t->list[t->n++] = (struct turn){.at_ns = e->at_ns, .event = i};
		if (e->for_ns > 0)
			t->list[t->n++] = (struct turn){e->at_ns + e->for_ns, i, true};
	}
	qsort(t->list, t->n, sizeof(*t->list), by_time);
	return 0;
}

static void
take_turn(struct turns *t, const struct turn *turn)
{
	uint32_t kept = 0;

	if (!turn->ends) {
		t->active[t->n_active++] = turn->event;
		return;
	}
	for (uint32_t i = 0; i < t->n_active; i++)
		if (t->active[i] != turn->event)
			t->active[kept++] = t->active[i];
	t->n_active = kept;
}

/* Values may contain commas but no '=': a part without '=' continues the previous value. */
static char *
next_word(char *word)
{
	for (char *comma = strchr(word, ','); comma != NULL; comma = strchr(comma + 1, ',')) {
		size_t n = strcspn(comma + 1, ",=");

		if (comma[1 + n] != '=')
			continue;
		*comma = '\0';
		return comma + 1;
	}
	return NULL;
}

/* A layer over cfg with the keys of one event. @return owned by the caller, or NULL with err. */
static struct config *
set_over(const struct config *cfg, const char *path, const struct event_params *e,
	 struct config_error *err)
{
	char name[512], words[EVENT_SET_CHARS + 1];
	struct config *over;
	int rc = 0;

	snprintf(name, sizeof(name), "%s: [event %s] set", path, e->name);
	strcpy(words, e->set);
	over = config_over(cfg, name, err);
	for (char *word = words, *next; over != NULL && rc == 0 && word != NULL; word = next) {
		next = next_word(word);
		word += strspn(word, " ");
		rc = config_set(over, word, err);
	}
	for (const char *at = NULL;
	     over != NULL && rc == 0 && (at = config_next(over, "flow", at));)
		if (!config_has(cfg, at))
			rc = config_refuse(over, at, NULL, "a flow of the file", err);
	if (rc == 0)
		return over;
	config_close(over);
	return NULL;
}

/* Find which nodes a change affects, and refuse one of fixed keys. */
static int
compare(const struct config *cfg, const struct scenario *before, struct scenario_change *change,
	struct config_error *err)
{
	uint32_t n = before->topology->n_switches;
	int rc = scenario_refuse_fixed(cfg, before, change->next, err);

	if (rc < 0)
		return rc;
	change->switches = calloc(n, sizeof(*change->switches));
	if (change->switches == NULL)
		return config_refuse(cfg, "event", NULL, "fewer sections: out of memory", err);
	for (uint32_t i = 0; i < n; i++)
		change->switches[i] = scenario_switch_differs(before, change->next, i);
	change->hosts = scenario_hosts_differ(before, change->next);
	return 0;
}

/* Read the scenario with the changes of all set events that are active at a time. */
static int
read_next(struct config *cfg, const struct turns *t, const struct scenario_override *override,
	  const struct scenario *s, const struct scenario *before, struct scenario_change *change,
	  bool begins, struct config_error *err)
{
	struct config *top = cfg;
	uint32_t n = 0;
	int rc = 0;

	for (; rc == 0 && n < t->n_active; n++) {
		t->layers[n] = set_over(top, config_path(cfg), &s->events[t->active[n]], err);
		if (t->layers[n] == NULL)
			rc = -EINVAL;
		else
			top = t->layers[n];
	}
	if (rc == 0) {
		change->next = calloc(1, sizeof(*change->next));
		if (change->next != NULL)
			change->next->before = before;
		rc = change->next == NULL ? config_refuse(cfg, "event", NULL,
							  "fewer sections: out of memory", err)
					  : scenario_file_read(top, override, change->next, err);
	}
	if (rc == 0)
		rc = compare(top, before, change, err);
	if (rc == 0 && begins)
		say_doubts(top);
	while (n > 0)
		config_close(t->layers[--n]);
	return rc;
}

static int
read_events(struct config *cfg, const struct scenario_override *override, struct scenario *s,
	    struct config_error *err)
{
	const struct scenario *before = s;
	struct turns t = {0};
	int rc = 0;

	if (list_turns(s, &t) < 0)
		rc = config_refuse(cfg, "event", NULL, "fewer sections: out of memory", err);
	for (uint32_t i = 0; rc == 0 && i < t.n; i++) {
		struct event_params *e = &s->events[t.list[i].event];
		struct scenario_change *change = t.list[i].ends ? &e->end : &e->begin;

		take_turn(&t, &t.list[i]);
		rc = read_next(cfg, &t, override, s, before, change, !t.list[i].ends, err);
		before = change->next;
	}
	free(t.list);
	free(t.active);
	free(t.layers);
	return rc;
}

int
scenario_read(struct config *cfg, const struct scenario_override *override, struct scenario *s,
	      struct config_error *err)
{
	if (scenario_file_read(cfg, override, s, err) < 0)
		return -EINVAL;
	if (read_events(cfg, override, s, err) < 0) {
		scenario_free(s);
		return -EINVAL;
	}
	return 0;
}
