// SPDX-License-Identifier: BSD-3-Clause
/* WRED_PROFILE, SCHEDULER, and QUEUE, which refers to them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "import/conversion/import_classes.h"
#include "import/conversion/import_memory.h"
#include "import/sonic/parts.h"

#define MAX_BYTES_PER_S (200 * GBPS) /* cir and pir: 1600 Gb/s */
#define MAX_BURST 1000000u

struct scheduler {
	bool is_set, strict;
	uint8_t weight;
	uint64_t min_rate_bps, max_rate_bps;
	uint32_t burst_bytes; /* 0: not given */
};

/* @return 1: on; 0: off, or missing; or -EINVAL. */
static int
take_switch(struct sonic *s, const char *key, const char *field)
{
	char text[SONIC_TEXT];
	int rc = sonic_take(s, "WRED_PROFILE", key, field, text);

	if (rc <= 0)
		return rc;
	if (strcmp(text, "true") == 0)
		return 1;
	return strcmp(text, "false") == 0
		       ? 0
		       : sonic_refuse(s, "WRED_PROFILE", key, field, text, "true or false");
}

/* In quench all packets are green, so ecn_green_yellow equals ecn_all. */
static int
read_ecn(struct sonic *s, const char *key, struct wred_params *p)
{
	static const char *const words[] = {"ecn_all",       "ecn_green",     "ecn_green_yellow",
					    "ecn_green_red", "ecn_none",      "ecn_yellow",
					    "ecn_red",       "ecn_yellow_red"};
	char text[SONIC_TEXT];
	int rc = sonic_take(s, "WRED_PROFILE", key, "ecn", text);

	p->ecn = WRED_ECN_NONE;
	if (rc <= 0)
		return rc;
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		p->ecn = i < 4 ? WRED_ECN_ALL : WRED_ECN_NONE;
		return 0;
	}
	return sonic_refuse(s, "WRED_PROFILE", key, "ecn", text,
			    "ecn_none, ecn_green, ecn_yellow, ecn_red, two of them, or ecn_all");
}

/* Without WRED, ECN marks by the curve, and no length of the queue drops other packets. */
static void
mark_only(struct sonic *s, const char *key, struct wred_params *p)
{
	p->wred_green_enable = true;
	p->ecn_green_min_threshold_bytes = p->green_min_threshold_bytes;
	p->ecn_green_max_threshold_bytes = p->green_max_threshold_bytes;
	p->ecn_green_mark_probability_ppm = p->green_drop_probability_ppm;
	p->green_min_threshold_bytes = p->green_max_threshold_bytes = WRED_MAX_BYTES;
	p->green_drop_probability_ppm = 0;
	import_note(s->log,
		    " WRED_PROFILE|%.80s|wred_green_enable = false: ecn_green_* marks, and the "
		    "curve of drops begins at 2 GiB",
		    key);
}

static int
read_wred(struct sonic *s, const char *key)
{
	struct sw_params *sw = &s->out->sw;
	struct sw_wred_profile *profile = &sw->wred_profiles[sw->n_wred_profiles];
	struct wred_params p = {.ecn_green_mark_probability_ppm = 1000000};
	int64_t min = 0, max = 0, percent = 100;
	int rc = import_profile_name(key)
			 ? 0
			 : sonic_refuse(s, "WRED_PROFILE", key, NULL, NULL, IMPORT_PROFILE_NAME);

	if (rc == 0 && sw->n_wred_profiles == SW_MAX_WRED_PROFILES)
		rc = sonic_refuse(s, "WRED_PROFILE", key, NULL, NULL, "at most 32 profiles");
	if (rc >= 0)
		rc = take_switch(s, key, "wred_green_enable");
	p.wred_green_enable = rc > 0;
	if (rc >= 0)
		rc = read_ecn(s, key, &p);
	if (rc >= 0)
		rc = sonic_take_number(s, "WRED_PROFILE", key, "green_min_threshold", 0,
				       WRED_MAX_BYTES, &min);
	if (rc >= 0)
		rc = sonic_take_number(s, "WRED_PROFILE", key, "green_max_threshold", 0,
				       WRED_MAX_BYTES, &max);
	if (rc >= 0 && min > max)
		rc = sonic_refuse(s, "WRED_PROFILE", key, "green_min_threshold", NULL,
				  "at most green_max_threshold");
	if (rc >= 0)
		rc = sonic_take_number(s, "WRED_PROFILE", key, "green_drop_probability", 0, 100,
				       &percent);
	if (rc < 0)
		return rc;
	p.green_min_threshold_bytes = (uint64_t)min;
	p.green_max_threshold_bytes = (uint64_t)max;
	p.green_drop_probability_ppm = (uint32_t)percent * 10000;
	if (!p.wred_green_enable && p.ecn == WRED_ECN_ALL && max > 0)
		mark_only(s, key, &p);
	profile->params = p;
	snprintf(profile->name, sizeof(profile->name), "%s", key);
	sw->n_wred_profiles++;
	return 0;
}

static int
read_rates(struct sonic *s, const char *key, struct scheduler *out)
{
	int64_t cir = 0, pir = 0, cbs = 0, pbs = 0;
	int rc = sonic_take_number(s, "SCHEDULER", key, "cir", 0, MAX_BYTES_PER_S, &cir);

	if (rc >= 0)
		rc = sonic_take_number(s, "SCHEDULER", key, "pir", 0, MAX_BYTES_PER_S, &pir);
	if (rc >= 0)
		rc = sonic_take_number(s, "SCHEDULER", key, "cbs", 0, INT64_MAX, &cbs);
	if (rc >= 0)
		rc = sonic_take_number(s, "SCHEDULER", key, "pbs", 0, INT64_MAX, &pbs);
	if (rc >= 0 && pir > 0 && cir > pir)
		rc = sonic_refuse(s, "SCHEDULER", key, "cir", NULL, "at most pir");
	if (rc < 0)
		return rc;
	out->min_rate_bps = (uint64_t)cir * 8;
	out->max_rate_bps = (uint64_t)pir * 8;
	pbs = pbs > 0 ? pbs : cbs;
	if (pbs > MAX_BURST)
		import_lost(s->log, " SCHEDULER|%.80s|pbs: the largest burst of a queue is 1 MB",
			    key);
	else if (cbs > 0 && cbs != pbs)
		import_lost(s->log, " SCHEDULER|%.80s|cbs: both rates share one burst, that of pbs",
			    key);
	out->burst_bytes = (uint32_t)(pbs > MAX_BURST ? MAX_BURST : pbs);
	return 0;
}

static int
read_scheduler(struct sonic *s, const char *key, struct scheduler *out)
{
	char text[SONIC_TEXT] = "WRR";
	int64_t weight = 1;
	int rc = sonic_take(s, "SCHEDULER", key, "type", text);

	*out = (struct scheduler){.is_set = true};
	if (rc >= 0 && strcmp(text, "STRICT") != 0 && strcmp(text, "DWRR") != 0 &&
	    strcmp(text, "WRR") != 0)
		rc = sonic_refuse(s, "SCHEDULER", key, "type", text, "STRICT, DWRR or WRR");
	out->strict = strcmp(text, "STRICT") == 0;
	if (rc >= 0 && strcmp(text, "WRR") == 0)
		import_note(s->log,
			    " SCHEDULER|%.80s|type = WRR: weights count bytes, as with "
			    "DWRR",
			    key);
	if (rc >= 0)
		rc = sonic_take_number(s, "SCHEDULER", key, "weight", 1, 100, &weight);
	out->weight = (uint8_t)weight;
	if (rc >= 0)
		rc = sonic_take(s, "SCHEDULER", key, "meter_type", text);
	if (rc > 0 && strcmp(text, "bytes") != 0)
		sonic_lose(s, "SCHEDULER", key, "meter_type", text, "rates count bytes");
	return rc < 0 ? rc : read_rates(s, key, out);
}

/* Entries of SCHEDULER by name; each is read once. */
struct schedulers {
	struct {
		const char *name; /* in the table */
		struct scheduler is;
	} * list;
	size_t n;
};

static int
read_schedulers(struct sonic *s, struct schedulers *all)
{
	json_t *table = json_object_get(s->root, "SCHEDULER"), *entry;
	const char *key;
	int rc = 0;

	all->n = 0;
	all->list = import_alloc(json_object_size(table) + 1, sizeof(*all->list));
	json_object_foreach (table, key, entry) {
		(void)entry;
		if (rc < 0)
			break;
		all->list[all->n].name = key;
		rc = read_scheduler(s, key, &all->list[all->n++].is);
	}
	return rc;
}

static const struct scheduler *
find_scheduler(const struct schedulers *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->list[i].name, name) == 0)
			return &all->list[i].is;
	return NULL;
}

static void
use_scheduler(struct sonic *s, const struct sonic_place *place, const struct scheduler *is,
	      struct scheduler of_port[SW_DEVICE_PORTS][TM_CLASSES])
{
	for (uint16_t p = 0; p < s->out->sw.n_ports; p++) {
		for (unsigned int q = 0; q < TM_CLASSES; q++) {
			struct sw_queue_params *queue = &s->out->sw.queues[p][q];

			if (!(place->ports >> p & 1) || !(place->indices >> q & 1))
				continue;
			of_port[p][q] = *is;
			queue->min_rate_bps = is->min_rate_bps;
			queue->max_rate_bps = is->max_rate_bps;
			if (is->burst_bytes > 0)
				queue->burst_bytes = is->burst_bytes;
		}
	}
}

static int
read_queue(struct sonic *s, const char *key, const struct schedulers *all,
	   struct scheduler of_port[SW_DEVICE_PORTS][TM_CLASSES])
{
	struct sonic_place place;
	char name[SONIC_TEXT];
	int rc = sonic_place(s, "QUEUE", key, &place);

	if (rc <= 0)
		return rc;
	rc = sonic_take_reference(s, "QUEUE", key, "scheduler", "SCHEDULER", name);
	if (rc > 0 && find_scheduler(all, name) != NULL)
		use_scheduler(s, &place, find_scheduler(all, name), of_port);
	if (rc >= 0)
		rc = sonic_take_reference(s, "QUEUE", key, "wred_profile", "WRED_PROFILE", name);
	for (uint16_t p = 0; rc > 0 && p < s->out->sw.n_ports; p++)
		for (unsigned int q = 0; q < TM_CLASSES; q++)
			if (place.ports >> p & 1 && place.indices >> q & 1)
				snprintf(s->out->sw.queues[p][q].wred_profile, SW_PROFILE_NAME + 1,
					 "%.40s",
					 strcmp(name, "NULL") == 0 ? SW_PROFILE_NONE : name);
	return rc < 0 ? rc : 0;
}

/* @return false: no queue of the port has a scheduler. */
static bool
sched_of(const struct scheduler of_queue[TM_CLASSES], struct sched_params *out)
{
	bool any = false;

	*out = (struct sched_params){0};
	for (unsigned int q = 0; q < TM_CLASSES; q++) {
		out->strict_queues |= (uint8_t)(of_queue[q].strict << q);
		out->dwrr_weight[q] = of_queue[q].is_set ? of_queue[q].weight : 1;
		any |= of_queue[q].is_set;
	}
	return any;
}

/* Ports without schedulers have those of the first port that has some. */
static void
set_schedulers(struct sw_params *sw, struct scheduler of_port[SW_DEVICE_PORTS][TM_CLASSES])
{
	struct sched_params sched[SW_DEVICE_PORTS];
	uint16_t first = 0;

	while (first < sw->n_ports && !sched_of(of_port[first], &sched[first]))
		first++;
	for (uint16_t i = 0; i < sw->n_ports; i++)
		if (!sched_of(of_port[i], &sched[i]) && first < sw->n_ports)
			sched[i] = sched[first];
	import_set_sched(sw, sched);
}

int
sonic_queues(struct sonic *s)
{
	struct sw_params *sw = &s->out->sw;
	struct scheduler(*of_port)[TM_CLASSES] = import_alloc(SW_DEVICE_PORTS, sizeof(*of_port));
	struct schedulers all;
	const char *key;
	json_t *entry;
	void *next;
	int rc = read_schedulers(s, &all);

	json_object_foreach (json_object_get(s->root, "WRED_PROFILE"), key, entry) {
		if (rc >= 0)
			rc = read_wred(s, key);
	}
	json_object_foreach_safe (json_object_get(s->root, "QUEUE"), next, key, entry) {
		(void)entry;
		if (rc >= 0)
			rc = read_queue(s, key, &all, of_port);
	}
	free(all.list);
	sw->wred_queues = 0;
	set_schedulers(sw, of_port);
	free(of_port);
	return rc < 0 ? rc : 0;
}
