// SPDX-License-Identifier: BSD-3-Clause
/*
 * BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG and BUFFER_QUEUE.
 *
 * For each class, one profile becomes the section of the class ([buffer_profile lossless] and so
 * on): the one with SONiC's name for the class, or else the one that most of its groups or queues
 * use. Other profiles keep their names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "import/conversion/import_memory.h"
#include "import/sonic/parts.h"

#define MAX_BYTES (1ll << 40)
/* Assumed size of the buffer if the pools have none, because SONiC computes them. */
#define ASSUMED_BUFFER 40000000u

/* Class of a group or a queue: selects our section if no profile is named. */
enum class { LOSSLESS, LOSSY, EGRESS_LOSSLESS, EGRESS_LOSSY, CLASSES };

/* SONiC's names of the profiles of these classes. */
static const char *const class_names[CLASSES] = {
	"ingress_lossless_profile",
	"ingress_lossy_profile",
	"egress_lossless_profile",
	"egress_lossy_profile",
};

struct profile {
	char name[SW_PROFILE_NAME + 1];
	char pool[SONIC_TEXT];
	struct buffer_profile is;
	bool has_xoff;
	unsigned int users[CLASSES]; /* groups or queues with this profile */
};

struct profiles {
	const char *pools[CLASSES]; /* their names in BUFFER_POOL */
	struct profile *list;
	size_t n;
	/* Index + 1 of the profile of each group and queue; 0: none is named. */
	unsigned int of_pg[SW_DEVICE_PORTS][TM_CLASSES], of_queue[SW_DEVICE_PORTS][TM_CLASSES];
};

static int
take_bytes(struct sonic *s, const char *table, const char *key, const char *field, uint64_t *out)
{
	int64_t value = 0;
	int rc = sonic_take_number(s, table, key, field, 0, MAX_BYTES, &value);

	*out = (uint64_t)value;
	return rc;
}

/* Does a profile of this pool have a name of lossless traffic? */
static bool
has_lossless_profile(const struct sonic *s, const char *pool)
{
	json_t *entry;
	const char *key, *text;
	size_t n = strlen(pool);

	json_object_foreach (json_object_get(s->root, "BUFFER_PROFILE"), key, entry) {
		text = json_string_value(json_object_get(entry, "pool"));
		if (text == NULL || strstr(key, "lossless") == NULL)
			continue;
		if (strncmp(text, "[BUFFER_POOL|", 13) == 0)
			text += 13;
		if (strncmp(text, pool, n) == 0 && (text[n] == '\0' || text[n] == ']'))
			return true;
	}
	return false;
}

/* SONiC's names come first. A pool of another name belongs to the class that its profiles have. */
static void
find_pools(const struct sonic *s, struct profiles *all)
{
	static const char *const names[CLASSES] = {"ingress_lossless_pool", "ingress_lossy_pool",
						   "egress_lossless_pool", "egress_lossy_pool"};
	json_t *entry;
	const char *key;

	for (unsigned int i = 0; i < CLASSES; i++)
		all->pools[i] = sonic_entry(s, "BUFFER_POOL", names[i]) != NULL ? names[i] : NULL;
	json_object_foreach (json_object_get(s->root, "BUFFER_POOL"), key, entry) {
		const char *type = json_string_value(json_object_get(entry, "type"));
		bool is_egress = type != NULL && strcmp(type, "egress") == 0;
		bool is_lossless = strstr(key, "lossy") == NULL && has_lossless_profile(s, key);
		enum class class = (is_egress ? EGRESS_LOSSLESS : LOSSLESS) + !is_lossless;

		if (type != NULL && all->pools[class] == NULL)
			all->pools[class] = key;
	}
	for (unsigned int i = 0; i < CLASSES; i++)
		if (all->pools[i] == NULL)
			all->pools[i] = names[i];
}

static int
read_pools(struct sonic *s, struct profiles *all)
{
	const char *const *names = all->pools;
	struct mmu_params *mmu = &s->out->sw.mmu;
	uint64_t size[CLASSES] = {0}, xoff = 0;
	char text[SONIC_TEXT];
	int rc = 0;

	find_pools(s, all);
	for (unsigned int i = 0; rc >= 0 && i < CLASSES; i++) {
		rc = take_bytes(s, "BUFFER_POOL", names[i], "size", &size[i]);
		if (rc >= 0)
			rc = sonic_take(s, "BUFFER_POOL", names[i], "type", text);
		/* Ignore the mode: each profile says whether its limit is dynamic. */
		if (rc >= 0)
			rc = sonic_take(s, "BUFFER_POOL", names[i], "mode", text);
	}
	if (rc >= 0)
		rc = take_bytes(s, "BUFFER_POOL", names[LOSSLESS], "xoff", &xoff);
	if (rc < 0)
		return rc;
	if (size[EGRESS_LOSSLESS] > 0)
		import_note(s->log, " BUFFER_POOL|%s|size: lossless queues share the whole buffer",
			    names[EGRESS_LOSSLESS]);
	mmu->shared_headroom_pool_bytes = xoff;
	mmu->lossy_pool_bytes = size[1];
	mmu->egress_lossy_pool_bytes = size[3];
	mmu->buffer_bytes = size[0] + xoff + size[1];
	/* A switch without lossless classes has one pool. */
	if (size[0] == 0 && size[1] > 0 && sonic_entry(s, "BUFFER_POOL", names[0]) == NULL)
		return 0;
	if (size[0] == 0)
		import_note(s->log,
			    " BUFFER_POOL|%s: no size; assumed: 40 MB, or twice the reserved bytes",
			    names[0]);
	return size[0] == 0;
}

static int
read_limits(struct sonic *s, const char *key, struct buffer_profile *is)
{
	int64_t dynamic_th = 0;
	uint64_t static_th;
	int has_dynamic =
		sonic_take_number(s, "BUFFER_PROFILE", key, "dynamic_th", -8, 7, &dynamic_th);
	int has_static = has_dynamic < 0
				 ? has_dynamic
				 : take_bytes(s, "BUFFER_PROFILE", key, "static_th", &static_th);

	if (has_static < 0)
		return -EINVAL;
	if (has_static && has_dynamic)
		return sonic_refuse(s, "BUFFER_PROFILE", key, "static_th", NULL,
				    "one of static_th and dynamic_th");
	is->dynamic = !has_static;
	is->dynamic_th = (int8_t)dynamic_th;
	is->static_th_bytes = has_static ? static_th : 0;
	return 0;
}

static int
read_profile(struct sonic *s, const char *key, struct profile *p)
{
	char text[SONIC_TEXT];
	int rc = import_profile_name(key)
			 ? 0
			 : sonic_refuse(s, "BUFFER_PROFILE", key, NULL, NULL, IMPORT_PROFILE_NAME);

	snprintf(p->name, sizeof(p->name), "%.40s", key);
	if (rc >= 0)
		rc = sonic_take_reference(s, "BUFFER_PROFILE", key, "pool", "BUFFER_POOL", p->pool);
	if (rc >= 0)
		rc = take_bytes(s, "BUFFER_PROFILE", key, "size", &p->is.size_bytes);
	if (rc >= 0)
		rc = take_bytes(s, "BUFFER_PROFILE", key, "xon", &p->is.xon_bytes);
	if (rc >= 0)
		rc = take_bytes(s, "BUFFER_PROFILE", key, "xon_offset", &p->is.xon_offset_bytes);
	if (rc >= 0)
		rc = take_bytes(s, "BUFFER_PROFILE", key, "xoff", &p->is.xoff_bytes);
	p->has_xoff = rc > 0;
	if (rc >= 0)
		rc = read_limits(s, key, &p->is);
	if (rc >= 0)
		rc = sonic_take(s, "BUFFER_PROFILE", key, "packet_discard_action", text);
	if (rc > 0 && strcmp(text, "drop") != 0)
		sonic_lose(s, "BUFFER_PROFILE", key, "packet_discard_action", text,
			   "frames that do not fit are dropped");
	return rc < 0 ? rc : 0;
}

static int
read_profiles(struct sonic *s, struct profiles *all)
{
	json_t *table = json_object_get(s->root, "BUFFER_PROFILE"), *entry;
	const char *key;
	int rc = 0;

	all->list = import_alloc(json_object_size(table) + 1, sizeof(*all->list));
	json_object_foreach (table, key, entry) {
		(void)entry;
		if (rc == 0)
			rc = read_profile(s, key, &all->list[all->n++]);
	}
	return rc;
}

static enum class class_of(const struct sonic *s, bool is_pg, uint16_t port, unsigned int i) {
	const struct mmu_params *mmu = &s->out->sw.mmu;
	const uint8_t *lossless = is_pg ? mmu->lossless_pgs : mmu->lossless_queues;
	bool is_lossless = lossless[port] >> i & 1;

	if (is_pg) return is_lossless ? LOSSLESS : LOSSY;
	return is_lossless ? EGRESS_LOSSLESS : EGRESS_LOSSY;
}

/* Does the profile's pool match its class? In quench the class determines the pool. */
static bool
fits_pool(const struct sonic *s, const struct profiles *all, const struct profile *p,
	  enum class class)
{
	const char *const *pools = all->pools;

	if (strcmp(p->pool, pools[LOSSY]) == 0)
		return class == LOSSY;
	if (strcmp(p->pool, pools[LOSSLESS]) == 0)
		return class == LOSSLESS ||
		       (class == LOSSY && s->out->sw.mmu.lossy_pool_bytes == 0);
	if (strcmp(p->pool, pools[EGRESS_LOSSY]) == 0)
		return class == EGRESS_LOSSY;
	return true;
}

/* Read an entry of BUFFER_PG or BUFFER_QUEUE. */
static int
read_use(struct sonic *s, struct profiles *all, const char *table, bool is_pg, const char *key)
{
	struct sonic_place place;
	char name[SONIC_TEXT];
	const char *why = NULL;
	size_t i = 0;
	int rc = sonic_place(s, table, key, &place);

	if (rc <= 0)
		return rc;
	rc = sonic_take_reference(s, table, key, "profile", "BUFFER_PROFILE", name);
	/* NULL: SONiC computes the profile, and so do we. */
	if (rc <= 0 || strcmp(name, "NULL") == 0)
		return rc;
	while (i < all->n && strcmp(all->list[i].name, name) != 0)
		i++;
	for (unsigned int n = 0; i < all->n && n < s->out->sw.n_ports * TM_CLASSES; n++) {
		struct profile *p = &all->list[i];
		uint16_t port = (uint16_t)(n / TM_CLASSES);
		unsigned int k = n % TM_CLASSES;
		enum class class = class_of(s, is_pg, port, k);

		if (!(place.indices >> k & 1) || !(place.ports >> port & 1))
			continue;
		if (class != LOSSLESS && p->has_xoff) {
			why = "has headroom, but does not belong to a priority in pfc_enable";
			continue;
		}
		if (!fits_pool(s, all, p, class))
			why = "in part: the class decides whether the pool is that of lossless "
			      "or of lossy traffic";
		if (is_pg)
			all->of_pg[port][k] = (unsigned int)i + 1;
		else
			all->of_queue[port][k] = (unsigned int)i + 1;
	}
	if (why != NULL)
		sonic_lose(s, table, key, "profile", name, why);
	return 0;
}

static int
read_uses(struct sonic *s, struct profiles *all, const char *table, bool is_pg)
{
	const char *key;
	json_t *entry;
	void *next;
	int rc = 0;

	json_object_foreach_safe (json_object_get(s->root, table), next, key, entry) {
		(void)entry;
		if (rc >= 0)
			rc = read_use(s, all, table, is_pg, key);
	}
	return rc;
}

static void
count_users(struct sonic *s, struct profiles *all)
{
	for (uint16_t port = 0; port < s->out->sw.n_ports; port++) {
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			unsigned int pg = all->of_pg[port][i], queue = all->of_queue[port][i];

			if (pg > 0)
				all->list[pg - 1].users[class_of(s, true, port, i)]++;
			if (queue > 0)
				all->list[queue - 1].users[class_of(s, false, port, i)]++;
		}
	}
}

/* Index + 1 of the profile for a class: by SONiC's name, else the one with most users. */
static unsigned int
choose(const struct profiles *all, enum class class)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < all->n; i++) {
		const struct profile *p = &all->list[i];

		if (strcmp(p->name, class_names[class]) == 0 && (class == LOSSLESS || !p->has_xoff))
			return i + 1;
		if (p->users[class] > (best > 0 ? all->list[best - 1].users[class] : 0))
			best = i + 1;
	}
	return best;
}

static void
name_it(const struct profiles *all, unsigned int chosen, unsigned int is, char *name)
{
	if (is > 0 && is != chosen)
		memcpy(name, all->list[is - 1].name, sizeof(all->list[is - 1].name));
}

/* Profiles not chosen for a class get their own sections, used or not. */
static int
set_profiles(struct sonic *s, struct profiles *all)
{
	struct sw_params *sw = &s->out->sw;
	struct buffer_profile *const classes[CLASSES] = {
		&sw->mmu.lossless, &sw->mmu.lossy, &sw->mmu.egress_lossless, &sw->mmu.egress_lossy};
	unsigned int chosen[CLASSES];

	count_users(s, all);
	sw->mmu.lossless.xoff_bytes = 0; /* assume_headroom() follows */
	for (unsigned int c = 0; c < CLASSES; c++) {
		chosen[c] = choose(all, (enum class)c);
		if (chosen[c] > 0)
			*classes[c] = all->list[chosen[c] - 1].is;
	}
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (unsigned int i = 0; i < TM_CLASSES; i++) {
			name_it(all, chosen[class_of(s, true, port, i)], all->of_pg[port][i],
				sw->pgs[port][i].buffer_profile);
			name_it(all, chosen[class_of(s, false, port, i)], all->of_queue[port][i],
				sw->queues[port][i].buffer_profile);
		}
	}
	for (unsigned int i = 0; i < all->n; i++) {
		const struct profile *p = &all->list[i];
		bool elsewhere = true;

		/* The profile of a class gets a name only if another class uses it too. */
		for (unsigned int c = 0; c < CLASSES; c++)
			if (chosen[c] == i + 1)
				elsewhere = false;
		for (unsigned int c = 0; c < CLASSES; c++)
			if (p->users[c] > 0 && chosen[c] != i + 1)
				elsewhere = true;
		if (!elsewhere)
			continue;
		if (sw->mmu.n_profiles == MMU_MAX_PROFILES)
			return sonic_refuse(s, "BUFFER_PROFILE", p->name, NULL, NULL,
					    "at most 32 profiles besides those of the classes");
		snprintf(sw->mmu.profile_names[sw->mmu.n_profiles], MMU_PROFILE_NAME + 1, "%s",
			 p->name);
		sw->mmu.profiles[sw->mmu.n_profiles++] = p->is;
	}
	return 0;
}

/* The limit of the groups whose profile SONiC computes. */
static int
read_default_limit(struct sonic *s)
{
	static const char table[] = "DEFAULT_LOSSLESS_BUFFER_PARAMETER";
	const char *key = json_object_iter_key(json_object_iter(json_object_get(s->root, table)));
	int64_t dynamic_th = 0;
	int rc = key == NULL ? 0
			     : sonic_take_number(s, table, key, "default_dynamic_th", -8, 7,
						 &dynamic_th);

	if (rc > 0)
		s->out->sw.mmu.lossless.dynamic_th = (int8_t)dynamic_th;
	return rc;
}

/*
 * SONiC computes the headroom of groups whose profile is NULL or missing; vendors' tables have the
 * profile of the class without xoff beside them. A lossless group without headroom loses frames at
 * each pause: give each such profile what the most demanding of its ports needs.
 */
static void
assume_headroom(struct sonic *s)
{
	struct mmu_params *mmu = &s->out->sw.mmu;
	unsigned int groups[MMU_MAX_PROFILES + 1] = {0};
	uint64_t needed[MMU_MAX_PROFILES + 1] = {0};

	sw_params_resolve(&s->out->sw); /* finds the profile of each group */
	for (uint16_t port = 0; port < s->out->sw.n_ports; port++) {
		for (uint8_t i = 0; i < TM_CLASSES; i++) {
			const struct buffer_profile *p = mmu_pg_profile(mmu, port, i);
			size_t at = p == &mmu->lossless ? 0 : 1 + (size_t)(p - mmu->profiles);

			if (!(mmu->lossless_pgs[port] >> i & 1) || p->xoff_bytes > 0)
				continue;
			groups[at]++;
			needed[at] = max_u64(needed[at],
					     sw_port_headroom(&s->out->sw, port).total_bytes);
		}
	}
	for (size_t at = 0; at <= mmu->n_profiles; at++) {
		struct buffer_profile *p = at == 0 ? &mmu->lossless : &mmu->profiles[at - 1];

		if (groups[at] == 0)
			continue;
		p->xoff_bytes = (needed[at] + 999) / 1000 * 1000;
		import_note(s->log,
			    " BUFFER_PG: %u lossless groups %s%s have no headroom: assumed %" PRIu64
			    " bytes, which the most demanding of their ports needs",
			    groups[at], at == 0 ? "without their own profile" : "of ",
			    at == 0 ? "" : mmu->profile_names[at - 1], p->xoff_bytes);
	}
}

static void
assume_buffer(struct sonic *s)
{
	struct sw_params *sw = &s->out->sw;
	struct mmu_budget b;

	sw_params_resolve(sw);
	b = mmu_params_budget(&sw->mmu);
	sw->mmu.buffer_bytes = max_u64(
		ASSUMED_BUFFER, 2 * max_u64(b.reserved_bytes + b.headroom_bytes + b.lossy_bytes,
					    b.egress_reserved_bytes));
}

/* Platforms differ in whether the size of a pool includes what its groups reserve. */
static void
fit_buffer(struct sonic *s)
{
	struct sw_params *sw = &s->out->sw;
	struct mmu_budget b;
	uint64_t was = sw->mmu.buffer_bytes;

	sw_params_resolve(sw);
	b = mmu_params_budget(&sw->mmu);
	if (b.reserved_bytes + b.headroom_bytes + b.lossy_bytes <= was &&
	    b.egress_reserved_bytes <= was)
		return;
	sw->mmu.buffer_bytes +=
		max_u64(b.reserved_bytes + b.headroom_bytes, b.egress_reserved_bytes);
	import_note(s->log,
		    " BUFFER_POOL: the pools do not hold reserved bytes and headroom too: "
		    "buffer_bytes is their %" PRIu64 " + %" PRIu64,
		    was, sw->mmu.buffer_bytes - was);
}

int
sonic_buffers(struct sonic *s)
{
	struct profiles *all = import_alloc(1, sizeof(*all));
	int no_size, rc;

	sw_params_resolve(&s->out->sw); /* determines which groups and queues are lossless */
	no_size = rc = read_pools(s, all);
	if (rc >= 0)
		rc = read_profiles(s, all);
	if (rc >= 0)
		rc = read_uses(s, all, "BUFFER_PG", true);
	if (rc >= 0)
		rc = read_uses(s, all, "BUFFER_QUEUE", false);
	if (rc >= 0)
		rc = read_default_limit(s);
	if (rc >= 0)
		rc = set_profiles(s, all);
	if (rc >= 0)
		assume_headroom(s);
	if (rc >= 0 && no_size > 0)
		assume_buffer(s);
	else if (rc >= 0)
		fit_buffer(s);
	free(all->list);
	free(all);
	return rc < 0 ? rc : 0;
}
