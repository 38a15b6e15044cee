// SPDX-License-Identifier: BSD-3-Clause
/*
 * The policies of type queuing of each port: queues for output, thresholds of PFC for input. What
 * most ports have for output is [scheduler], [wred] and its queues; a port with another policy gets
 * its own keys and profiles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/conversion/import_classes.h"
#include "import/conversion/import_memory.h"
#include "import/nxos/queuing.h"

/* The policies of the ports; entry i is filled in if port i is the first one with its policy. */
struct outputs {
	uint16_t main; /* the first port with the policy of most ports */
	struct nx_queuing of[SW_DEVICE_PORTS];
};

static uint16_t
most_common(const struct nxos *x)
{
	unsigned int n[SW_DEVICE_PORTS] = {0};
	uint16_t best = 0;

	for (uint16_t i = 0; i < x->out->sw.n_ports; i++)
		n[nxos_first_with(x, i, NX_OUTPUT)]++;
	for (uint16_t i = 1; i < x->out->sw.n_ports; i++)
		if (n[i] > n[best])
			best = i;
	return best;
}

/* The first curve of the main policy becomes [wred]. */
static void
set_wred(struct sw_params *sw, const struct nx_queuing *main)
{
	const struct nx_queue *first = NULL;

	sw->wred_queues = 0;
	for (unsigned int q = 0; q < NX_GROUPS; q++) {
		const struct nx_queue *queue = &main->queues[q];

		if (queue->curve_line >= 0 &&
		    (first == NULL || queue->curve_line < first->curve_line))
			first = queue;
	}
	if (first == NULL)
		return;
	sw->wred = first->curve;
	for (unsigned int q = 0; q < NX_GROUPS; q++)
		if (main->queues[q].curve_line >= 0 &&
		    memcmp(&sw->wred, &main->queues[q].curve, sizeof(sw->wred)) == 0)
			sw->wred_queues |= (uint8_t)(1u << q);
}

/* The name of a curve for a queue, or NULL: there is no room for it. */
static const char *
curve_name(struct nxos *x, int policy, const struct nx_queue *queue, unsigned int q)
{
	struct sw_params *sw = &x->out->sw;
	bool has_shared = sw->wred_queues >> q & 1;
	struct sw_wred_profile *own;
	char suffix[16];

	if (queue->curve_line < 0)
		return has_shared ? SW_PROFILE_NONE : SW_PROFILE_DEFAULT;
	if (has_shared && memcmp(&sw->wred, &queue->curve, sizeof(sw->wred)) == 0)
		return SW_PROFILE_DEFAULT;
	for (unsigned int i = 0; i < sw->n_wred_profiles; i++)
		if (memcmp(&sw->wred_profiles[i].params, &queue->curve, sizeof(sw->wred)) == 0)
			return sw->wred_profiles[i].name;
	if (sw->n_wred_profiles == SW_MAX_WRED_PROFILES)
		return NULL;
	own = &sw->wred_profiles[sw->n_wred_profiles++];
	own->params = queue->curve;
	snprintf(suffix, sizeof(suffix), "queue_%u", q);
	nxos_profile_name(x, policy, suffix, own->name);
	return own->name;
}

static void
set_queue(struct nxos *x, int policy, const struct nx_queue *queue, unsigned int q,
	  struct sw_queue_params *out)
{
	const char *curve = curve_name(x, policy, queue, q), *limit = SW_PROFILE_DEFAULT;
	char suffix[16];

	if (curve == NULL)
		nx_lose(&x->nx, queue->curve_line, "a switch has at most 32 curves");
	snprintf(suffix, sizeof(suffix), "limit_%u", q);
	if (queue->limit_line >= 0)
		limit = nxos_add_profile(x, policy, suffix, &queue->limit);
	if (limit == NULL)
		nx_lose(&x->nx, queue->limit_line, "a switch has at most 32 buffer profiles");
	snprintf(out->wred_profile, sizeof(out->wred_profile), "%s",
		 curve != NULL ? curve : SW_PROFILE_NONE);
	snprintf(out->buffer_profile, sizeof(out->buffer_profile), "%s",
		 limit != NULL ? limit : SW_PROFILE_DEFAULT);
	out->min_rate_bps = queue->min_rate_bps;
	out->max_rate_bps = queue->max_rate_bps;
}

static void
set_outputs(struct nxos *x, const struct outputs *all)
{
	struct sw_params *sw = &x->out->sw;
	struct sched_params sched[SW_DEVICE_PORTS];

	set_wred(sw, &all->of[all->main]);
	/* Profiles of the main policy come first. */
	for (uint16_t n = 0; n < sw->n_ports; n++) {
		uint16_t i = (uint16_t)((all->main + n) % sw->n_ports);
		uint16_t first = nxos_first_with(x, i, NX_OUTPUT);
		int policy = nxos_policy(x, i, NX_OUTPUT);

		for (unsigned int q = 0; q < NX_GROUPS; q++)
			set_queue(x, first == all->main ? NX_NO_POLICY : policy,
				  &all->of[first].queues[q], q, &sw->queues[i][q]);
		sched[i] = all->of[first].sched;
	}
	import_set_sched(sw, sched);
}

int
nxos_output(struct nxos *x)
{
	struct outputs *all = import_alloc(1, sizeof(*all));
	int rc = 0;

	all->main = most_common(x);
	for (uint16_t i = 0; rc == 0 && i < x->out->sw.n_ports; i++)
		if (nxos_first_with(x, i, NX_OUTPUT) == i)
			rc = nxos_read_queuing(x, nxos_policy(x, i, NX_OUTPUT), &all->of[i]);
	if (rc == 0)
		set_outputs(x, all);
	free(all);
	return rc;
}

static const char no_pfc[] = "the class has no PFC, by the policy of type network-qos";

static void
set_profile(struct nxos *x, uint16_t first, uint8_t group, const char *name)
{
	for (uint16_t i = first; i < x->out->sw.n_ports; i++)
		if (nxos_first_with(x, i, NX_INPUT) == first)
			snprintf(x->out->sw.pgs[i][x->pfc_cos[group]].buffer_profile,
				 SW_PROFILE_NAME + 1, "%s", name);
}

static int
read_line(struct nxos *x, int line, int policy, uint16_t first, uint8_t group)
{
	struct buffer_profile profile;
	struct nx_pause pause;
	struct nx_args a;
	const char *name;
	char suffix[16];
	int rc;

	if (!nx_is(&x->nx.lines[line], "pause buffer-size % pause-threshold % resume-threshold %",
		   &a))
		return 0;
	rc = nxos_read_pause(x, line, &a, &pause);
	if (rc != 0)
		return rc;
	if (!(x->no_drop >> group & 1)) {
		nx_lose(&x->nx, line, no_pfc);
		return 0;
	}
	profile = nxos_pause_profile(&pause);
	snprintf(suffix, sizeof(suffix), "pause_%u", x->pfc_cos[group]);
	name = nxos_add_profile(x, policy, suffix, &profile);
	if (name == NULL) {
		nx_lose(&x->nx, line, "a switch has at most 32 buffer profiles");
		return 0;
	}
	set_profile(x, first, group, name);
	nx_use(&x->nx, line);
	return 0;
}

int
nxos_input(struct nxos *x)
{
	int group, rc = 0;

	for (uint16_t first = 0; rc == 0 && first < x->out->sw.n_ports; first++) {
		int policy = nxos_policy(x, first, NX_INPUT);

		if (policy == NX_NO_POLICY || nxos_first_with(x, first, NX_INPUT) != first)
			continue;
		for (int c = -1;
		     rc == 0 && (c = nxos_next_class(x, "queuing", policy, c, &group)) >= 0;)
			for (int i = nx_next(&x->nx, c, -1); rc == 0 && i >= 0;
			     i = nx_next(&x->nx, c, i))
				rc = read_line(x, i, policy, first, (uint8_t)group);
	}
	return rc;
}
