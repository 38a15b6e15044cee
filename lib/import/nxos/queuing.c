// SPDX-License-Identifier: BSD-3-Clause
/* Reads a policy-map of type queuing: scheduler, WRED, limits and shapers of the queues. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "import/nxos/queuing.h"

#define MAX_LEVEL 3
/* "queue-limit dynamic N" is an alpha of 2^(N - 7). */
#define DYNAMIC_ONE 7
#define MAX_DYNAMIC 10

struct unit {
	const char *word;
	uint64_t scale;
};

static const struct unit byte_units[] = {
	{"bytes", 1}, {"kbytes", 1000}, {"mbytes", 1000000}, {NULL, 0}};
static const struct unit rate_units[] = {
	{"bps", 1}, {"kbps", KBPS}, {"mbps", MBPS}, {"gbps", GBPS}, {NULL, 0}};

/* Parse a number with a unit. @return 0, or -EINVAL after a refusal: bad unit or range. */
static int
quantity(struct nxos *x, int line, const char *number, const char *word, const struct unit *units,
	 uint64_t max, uint64_t *out)
{
	for (const struct unit *u = units; u->word != NULL; u++) {
		int rc;

		if (strcasecmp(word, u->word) != 0)
			continue;
		rc = nx_number(&x->nx, line, number, 0, max / u->scale, out);
		*out *= u->scale;
		return rc;
	}
	return nx_refuse(&x->nx, line,
			 units == byte_units ? "bytes, kbytes or mbytes"
					     : "bps, kbps, mbps or gbps");
}

/* The "random-detect ..." lines of a class. */
struct wred_words {
	struct wred_params params;
	bool has_min, has_max;
	int line; /* the last such line, or -1 */
};

/* @return the number of words read; 0: unknown word; or -EINVAL. */
static int
read_wred_word(struct nxos *x, int line, char *const *w, unsigned int n, struct wred_words *out)
{
	bool is_min = strcasecmp(w[0], "minimum-threshold") == 0;
	uint64_t value;
	int rc = 0;

	if (n >= 3 && (is_min || strcasecmp(w[0], "maximum-threshold") == 0)) {
		rc = quantity(x, line, w[1], w[2], byte_units, WRED_MAX_BYTES, &value);
		if (is_min)
			out->params.green_min_threshold_bytes = value;
		else
			out->params.green_max_threshold_bytes = value;
		out->has_min |= is_min;
		out->has_max |= !is_min;
		return rc == 0 ? 3 : rc;
	}
	if (n >= 2 && strcasecmp(w[0], "drop-probability") == 0) {
		rc = nx_number(&x->nx, line, w[1], 0, 100, &value);
		out->params.green_drop_probability_ppm = (uint32_t)value * 10000;
		return rc == 0 ? 2 : rc;
	}
	if (n >= 2 && strcasecmp(w[0], "weight") == 0) {
		rc = nx_number(&x->nx, line, w[1], 0, 15, &value);
		out->params.wred_weight = (uint8_t)value;
		return rc == 0 ? 2 : rc;
	}
	if (strcasecmp(w[0], "ecn") == 0) {
		out->params.ecn = WRED_ECN_ALL;
		return 1;
	}
	return 0;
}

static void
begin_wred(struct wred_words *words)
{
	memset(words, 0, sizeof(*words)); /* cleared, because it is compared as bytes */
	words->params.wred_green_enable = true;
	words->params.ecn = WRED_ECN_NONE;
	words->params.green_drop_probability_ppm = 1000000;
	words->params.ecn_green_mark_probability_ppm = 1000000;
	words->line = -1;
}

static int
read_wred(struct nxos *x, int line, char *rest, struct wred_words *words)
{
	/* a copy, so that a line is applied completely or not at all */
	struct wred_words with = *words;
	char *w[NX_MAX_WORDS], *state = NULL;
	unsigned int n = 0;

	for (char *word = strtok_r(rest, " ", &state); word != NULL && n < NX_MAX_WORDS;
	     word = strtok_r(NULL, " ", &state))
		w[n++] = word;
	for (unsigned int i = 0; i < n;) {
		int used = read_wred_word(x, line, w + i, n - i, &with);

		if (used < 0)
			return used;
		if (used == 0) {
			nx_lose(&x->nx, line, "this word has no counterpart in [wred]");
			return 0;
		}
		i += (unsigned int)used;
	}
	nx_use(&x->nx, line);
	*words = with;
	words->line = line;
	return 0;
}

/* Set the curve after the last line of a class. */
static int
end_wred(struct nxos *x, int class, const struct wred_words *words, struct nx_queue *queue)
{
	char why[256];

	if (words->line < 0)
		return 0;
	if (wred_params_check(&words->params, why, sizeof(why)) != 0 && words->has_max)
		return nx_refuse(&x->nx, words->line,
				 "a minimum-threshold that is not above the "
				 "maximum-threshold");
	if (words->has_min && words->has_max) {
		queue->curve = words->params;
		queue->curve_line = words->line;
		return 0;
	}
	for (int i = nx_next_of(&x->nx, class, -1); i >= 0; i = nx_next_of(&x->nx, class, i))
		if (nx_is(&x->nx.lines[i], "random-detect ...", NULL) && x->nx.lines[i].why == NULL)
			nx_lose(&x->nx, i,
				"the line gives no thresholds; those of the platform "
				"are unknown");
	return 0;
}

/* The limit of a queue, except of a lossless one, which the ingress side limits. */
static int
read_limit(struct nxos *x, int line, uint8_t group, struct nx_queue *queue)
{
	const struct nx_line *l = &x->nx.lines[line];
	struct buffer_profile limit;
	struct nx_args a;
	uint64_t value;
	int rc;

	memset(&limit, 0, sizeof(limit)); /* profiles are compared as bytes */
	if (nx_is(l, "queue-limit dynamic %", &a)) {
		rc = nx_number(&x->nx, line, a.word[0], 0, MAX_DYNAMIC, &value);
		limit.dynamic = true;
		limit.dynamic_th = (int8_t)((int)value - DYNAMIC_ONE);
	} else if (nx_is(l, "queue-limit % %", &a)) {
		rc = quantity(x, line, a.word[0], a.word[1], byte_units, 1ull << 40, &value);
		limit.static_th_bytes = value;
		if (rc == 0 && value == 0)
			rc = nx_refuse(&x->nx, line, "a limit above 0");
	} else {
		return 0;
	}
	if (rc != 0)
		return rc;
	if (x->no_drop >> group & 1) {
		nx_lose(&x->nx, line, "only its priority group limits a no-drop queue");
		return 0;
	}
	if (queue->limit_line >= 0)
		return nx_refuse(&x->nx, line, "one queue-limit of a class");
	queue->limit = limit;
	queue->limit_line = line;
	nx_use(&x->nx, line);
	return 0;
}

static int
read_shape(struct nxos *x, int line, const struct nx_args *a, struct nx_queue *queue)
{
	uint64_t rate[2] = {0, 0}; /* minimum, maximum; a single rate is the maximum */
	unsigned int n = a->n / 2;

	for (unsigned int i = 0; i < n; i++) {
		int rc = quantity(x, line, a->word[2 * i], a->word[2 * i + 1], rate_units,
				  1600 * GBPS, &rate[2 - n + i]);

		if (rc != 0)
			return rc;
	}
	if (rate[0] > rate[1])
		return nx_refuse(&x->nx, line, "a min that is not above the max");
	queue->min_rate_bps = rate[0];
	queue->max_rate_bps = rate[1];
	nx_use(&x->nx, line);
	return 0;
}

/* Scheduler settings of one queue. */
struct share {
	bool strict, has_bandwidth;
	uint8_t level;
	int line;
};

static int
read_bandwidth(struct nxos *x, int line, const char *text, uint8_t group, struct nx_queuing *out,
	       struct share *share)
{
	uint64_t percent;
	int rc = nx_number(&x->nx, line, text, 0, 100, &percent);

	if (rc == 0 && percent == 0)
		import_note(x->log, "%u: %s: queue %u has weight 1, the lowest weight",
			    x->nx.lines[line].number, x->nx.lines[line].text, group);
	out->sched.dwrr_weight[group] = percent == 0 ? 1 : (uint8_t)percent;
	share->has_bandwidth = true;
	nx_use(&x->nx, line);
	return rc;
}

/* Share the remaining bandwidth equally among the queues without bandwidth. */
static void
share_rest(struct nxos *x, int policy, const struct share shares[NX_GROUPS], struct nx_queuing *out)
{
	uint8_t *weight = out->sched.dwrr_weight;
	unsigned int sum = 0, n = 0, part;

	for (unsigned int g = 0; g < NX_GROUPS; g++) {
		sum += shares[g].has_bandwidth ? weight[g] : 0;
		n += !shares[g].has_bandwidth && !shares[g].strict;
	}
	part = n > 0 && sum + n < 100 ? (100 - sum) / n : 1;
	for (unsigned int g = 0; g < NX_GROUPS; g++)
		if (!shares[g].has_bandwidth && !shares[g].strict)
			weight[g] = (uint8_t)part;
	if (n > 0)
		import_note(x->log, " %s%squeues without a bandwidth line: weight %u each",
			    policy == NX_NO_POLICY ? "" : nxos_policy_name(x, policy),
			    policy == NX_NO_POLICY ? "" : ": ", part);
}

static int
read_queue_line(struct nxos *x, int line, uint8_t group, struct nx_queuing *out,
		struct share *share, struct wred_words *words)
{
	const struct nx_line *l = &x->nx.lines[line];
	struct nx_args a;
	uint64_t level = 1;
	int rc = 0;

	if (nx_is(l, "bandwidth remaining percent %", &a) || nx_is(l, "bandwidth percent %", &a))
		return read_bandwidth(x, line, a.word[0], group, out, share);
	if (nx_is(l, "priority", &a) || nx_is(l, "priority level %", &a)) {
		if (a.n > 0)
			rc = nx_number(&x->nx, line, a.word[0], 1, MAX_LEVEL, &level);
		share->strict = true;
		share->level = (uint8_t)level;
		share->line = line;
		nx_use(&x->nx, line);
		return rc;
	}
	if (nx_is(l, "random-detect ...", &a))
		return read_wred(x, line, a.rest, words);
	if (nx_is(l, "queue-limit ...", &a))
		return read_limit(x, line, group, &out->queues[group]);
	if (nx_is(l, "shape min % % max % %", &a) || nx_is(l, "shape max % %", &a) ||
	    nx_is(l, "shape average % %", &a) || nx_is(l, "shape % %", &a))
		return read_shape(x, line, &a, &out->queues[group]);
	if (nx_is(l, "pause buffer-size ...", &a))
		nx_lose(&x->nx, line, "only a policy for input has thresholds of PFC");
	return 0;
}

static int
read_queue(struct nxos *x, int class, uint8_t group, struct nx_queuing *out, struct share *share)
{
	struct nx_queue *queue = &out->queues[group];
	struct wred_words words;
	int rc = 0;

	if (queue->is_read) {
		nx_lose_block(&x->nx, class, "an earlier class of the policy has this queue");
		return 0;
	}
	queue->is_read = true;
	begin_wred(&words);
	for (int i = nx_next(&x->nx, class, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, class, i))
		rc = read_queue_line(x, i, group, out, share, &words);
	return rc == 0 ? end_wred(x, class, &words, queue) : rc;
}

/* Our scheduler serves the higher queue first, NX-OS the lower level. */
static void
check_levels(struct nxos *x, const struct share shares[NX_GROUPS])
{
	for (unsigned int high = 1; high < NX_GROUPS; high++) {
		for (unsigned int low = 0; low < high; low++) {
			if (!shares[high].strict || !shares[low].strict ||
			    shares[high].level <= shares[low].level)
				continue;
			nx_lose(&x->nx, shares[low].line,
				"in part: among strict queues, the queue with the higher number "
				"goes first");
		}
	}
}

int
nxos_read_queuing(struct nxos *x, int policy, struct nx_queuing *out)
{
	struct share shares[NX_GROUPS] = {{0}};
	int group, rc = 0;

	memset(out, 0, sizeof(*out));
	memset(out->sched.dwrr_weight, 1, sizeof(out->sched.dwrr_weight));
	for (unsigned int g = 0; g < NX_GROUPS; g++)
		out->queues[g].curve_line = out->queues[g].limit_line = -1;
	for (int c = -1; rc == 0 && policy != NX_NO_POLICY &&
			 (c = nxos_next_class(x, "queuing", policy, c, &group)) >= 0;)
		rc = read_queue(x, c, (uint8_t)group, out, &shares[group]);
	for (unsigned int g = 0; g < NX_GROUPS; g++)
		out->sched.strict_queues |= (uint8_t)(shares[g].strict << g);
	check_levels(x, shares);
	if (rc == 0)
		share_rest(x, policy, shares, out);
	return rc;
}
