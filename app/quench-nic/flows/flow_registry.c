/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/flows/flow_registry.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "ctl/config/config.h"
#include "ctl/nic_config/workload_file.h"
#include "nic/workload/flow_waits.h"

/*
 * Limit of the lives at a time: the flows of a file, and the same number of removed ones that are
 * not idle yet.
 */
#define MOST_FLOWS (2 * CONFIG_MAX_SECTIONS)
#define ID_NONE UINT32_MAX
#define NUMBER_NONE UINT32_MAX

struct flow_life {
	struct flow_entry *entry;
	unsigned int users; /* configurations that contain it */
	struct nic_flow flow;
	uint64_t added_ns, removed_ns; /* NEVER_NS: not yet */
	struct nic_flow_place places[];
};

int
flow_registry_open(struct flow_registry *registry, struct nic_nodes *nodes, uint32_t max_qps)
{
	registry->nodes = nodes;
	registry->capacity = (uint32_t)min_u64(max_qps, MOST_FLOWS);
	registry->lives = calloc(registry->capacity, sizeof(*registry->lives));
	if (registry->lives == NULL || pthread_rwlock_init(&registry->lock, NULL) != 0)
		return -ENOMEM;
	for (uint16_t i = 0; i < nodes->plan.n_lcores; i++)
		if (nic_reserve_flows(nodes->node[i], registry->capacity) != 0)
			return -ENOMEM;
	return 0;
}

static void
free_life(struct flow_life *life)
{
	if (life == NULL)
		return;
	workload_release(&life->flow.qp.work);
	free(life);
}

static void
free_entry(struct flow_entry *e)
{
	free(e->last.times);
	free(e->earlier_times);
	free(e->earlier_pacing);
	free(e->ids);
	free(e);
}

void
flow_registry_close(struct flow_registry *registry)
{
	if (registry->nodes == NULL)
		return;
	for (uint32_t i = 0; registry->lives != NULL && i < registry->capacity; i++)
		free_life(registry->lives[i]);
	for (uint32_t i = 0; i < registry->n_entries; i++)
		free_entry(registry->entries[i]);
	for (unsigned int i = 0; i < NIC_SHARE_MAX_NODES; i++)
		ranges_free(&registry->items[i]);
	ranges_free(&registry->numbers);
	names_free(&registry->entry_names);
	free(registry->entries);
	free(registry->lives);
	pthread_rwlock_destroy(&registry->lock);
	*registry = (struct flow_registry){0};
}

void
flow_registry_read_begin(struct flow_registry *registry)
{
	pthread_rwlock_rdlock(&registry->lock);
}

void
flow_registry_read_end(struct flow_registry *registry)
{
	pthread_rwlock_unlock(&registry->lock);
}

static uint64_t
read_ns(const uint64_t *at_ns)
{
	return __atomic_load_n(at_ns, __ATOMIC_RELAXED);
}

void
flow_registry_added(struct flow_registry *registry, uint32_t flow_id, uint64_t now_ns)
{
	__atomic_store_n(&registry->lives[flow_id]->added_ns, now_ns, __ATOMIC_RELAXED);
}

void
flow_registry_removed(struct flow_registry *registry, uint32_t flow_id, uint64_t now_ns)
{
	__atomic_store_n(&registry->lives[flow_id]->removed_ns, now_ns, __ATOMIC_RELAXED);
}

uint64_t
flow_registry_added_ns(const struct flow_registry *registry, uint32_t flow_id)
{
	return read_ns(&registry->lives[flow_id]->added_ns);
}

/* Of a flow that waits for others: when it has begun. */
static uint64_t
life_began_ns(const struct flow_registry *registry, const struct flow_life *life)
{
	uint64_t from_ns = NEVER_NS;

	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++)
		from_ns = min_u64(from_ns,
				  nic_flow_started_ns(registry->nodes->node[i], life->flow.id));
	return from_ns;
}

static uint64_t
life_active_ns(const struct flow_registry *registry, const struct flow_life *life, uint64_t now_ns)
{
	uint64_t from_ns = read_ns(&life->added_ns);
	uint64_t until_ns = min_u64(now_ns, read_ns(&life->removed_ns));

	if (flow_order_is_given(life->flow.after))
		from_ns = max_u64(from_ns, life_began_ns(registry, life));
	else if (life->flow.qp.requester)
		from_ns = max_u64(from_ns, life->flow.qp.start_ns);
	return sub_sat(until_ns, from_ns);
}

/* Add the counters of one life to *sum. */
static void
add_info(const struct flow_registry *registry, uint32_t id, struct nic_flow_info *sum)
{
	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++)
		nic_flow_info(registry->nodes->node[i], id, sum);
}

static bool
add_times(const struct flow_registry *registry, uint32_t id, struct nic_times *sum)
{
	bool any = false;

	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++) {
		const struct nic_times *times = nic_flow_times(registry->nodes->node[i], id);

		if (times != NULL)
			nic_times_merge(sum, times);
		any = any || times != NULL;
	}
	return any;
}

static bool
add_pacing(const struct flow_registry *registry, uint32_t id, struct nic_pacing *sum)
{
	bool any = false;

	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++) {
		const struct nic_pacing *pacing = nic_flow_pacing(registry->nodes->node[i], id);

		if (pacing != NULL)
			nic_pacing_merge(sum, pacing);
		any = any || pacing != NULL;
	}
	return any;
}

/* A pause stops all lcores at the same time, but only some lcores have QPs of the flow. */
static uint64_t
life_paused_ns(const struct flow_registry *registry, uint32_t id, uint64_t now_ns)
{
	uint64_t paused_ns = 0;

	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++)
		paused_ns = max_u64(paused_ns,
				    nic_flow_paused_ns(registry->nodes->node[i], id, now_ns));
	return paused_ns;
}

struct flow_entry *
flow_registry_entry_of(const struct flow_registry *registry, uint32_t flow_id)
{
	return registry->lives[flow_id]->entry;
}

static bool is_over(const struct flow_registry *registry, uint32_t id);

uint32_t
flow_registry_ending_qps(const struct flow_registry *registry, const struct flow_entry *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_ids; i++) {
		const struct flow_life *life = registry->lives[e->ids[i]];

		if (read_ns(&life->removed_ns) != NEVER_NS && !is_over(registry, e->ids[i]))
			n += life->flow.qp_count;
	}
	return n;
}

struct nic_flow_info
flow_registry_info(const struct flow_registry *registry, const struct flow_entry *e)
{
	struct nic_flow_info info = e->earlier;

	for (uint32_t i = 0; i < e->n_ids; i++) {
		const struct nic_flow_info before = info;

		add_info(registry, e->ids[i], &info);
		/* The span is that of the present life. A removed one may not be gone yet. */
		if (e->n_ids > 1 && read_ns(&registry->lives[e->ids[i]]->removed_ns) != NEVER_NS) {
			info.started = before.started;
			info.started_ns = before.started_ns;
			info.ended_ns = before.ended_ns;
		}
	}
	return info;
}

/* ---- flows that wait for others ---- */

static bool
has_ended(const struct flow_registry *registry, uint32_t id)
{
	bool ended = true;

	for (uint16_t i = 0; ended && i < registry->nodes->plan.n_lcores; i++)
		ended = nic_flow_has_ended(registry->nodes->node[i], id);
	return ended;
}

static uint64_t
rounds_of(const struct flow_registry *registry, uint32_t id)
{
	uint64_t rounds = NEVER_NS;

	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++)
		rounds = min_u64(rounds, nic_flow_rounds(registry->nodes->node[i], id).ended);
	return rounds;
}

/* Of each flow of a configuration with an order. @return NULL: no memory. */
static struct flow_reached *
read_reached(const struct flow_registry *registry, const struct nic_config *config)
{
	struct flow_reached *reached = calloc(config->order.n, sizeof(*reached));

	for (uint32_t i = 0; reached != NULL && i < config->order.n; i++) {
		uint32_t id = config->flows[i].id;
		struct nic_flow_info info = {0};

		reached[i].ended = has_ended(registry, id);
		reached[i].rounds =
			flow_order_barrier(&config->order, i) == 0 ? 0 : rounds_of(registry, id);
		if (!reached[i].ended)
			add_info(registry, id, &info);
		reached[i].failed = info.qps_failed > 0;
	}
	return reached;
}

uint32_t *
flow_registry_awaited(const struct flow_registry *registry, const struct nic_config *config)
{
	struct flow_reached *reached;
	uint32_t *awaited;

	if (config->order.n == 0)
		return NULL;
	reached = read_reached(registry, config);
	awaited = calloc(config->order.n, sizeof(*awaited));
	if (reached == NULL || awaited == NULL ||
	    flow_waits_for(&config->order, reached, awaited) != 0) {
		free(awaited);
		awaited = NULL;
	}
	free(reached);
	return awaited;
}

uint64_t
flow_registry_stuck_qps(const struct flow_registry *registry, const struct nic_config *config,
			uint32_t *flow)
{
	const struct flow_order *o = &config->order;
	struct flow_reached *reached = o->n == 0 ? NULL : read_reached(registry, config);
	bool *in_vain = reached == NULL ? NULL : calloc(o->n, sizeof(*in_vain));
	bool found = in_vain != NULL && flow_waits_in_vain(o, reached, in_vain) == 0;
	uint64_t qps = 0;

	for (uint32_t i = 0; found && i < o->n; i++) {
		const struct nic_flow *f = &config->flows[i];
		struct nic_flow_info info = {0};

		if (!in_vain[i])
			continue;
		add_info(registry, f->id, &info);
		if (!info.started)
			*flow = i;
		if (workload_ends(&f->qp.work))
			qps += info.qps - info.qps_done - info.qps_failed;
	}
	free(in_vain);
	free(reached);
	return qps;
}

struct nic_flow_info
flow_registry_life_info(struct flow_registry *registry, uint32_t flow_id)
{
	struct nic_flow_info info = {0};

	flow_registry_read_begin(registry);
	add_info(registry, flow_id, &info);
	flow_registry_read_end(registry);
	return info;
}

bool
flow_registry_times(const struct flow_registry *registry, const struct flow_entry *e,
		    struct nic_times *sum)
{
	bool any = e->earlier_times != NULL;

	memset(sum, 0, sizeof(*sum));
	if (any)
		nic_times_merge(sum, e->earlier_times);
	for (uint32_t i = 0; i < e->n_ids; i++)
		any |= add_times(registry, e->ids[i], sum);
	return any;
}

bool
flow_registry_pacing(const struct flow_registry *registry, const struct flow_entry *e,
		     struct nic_pacing *sum)
{
	bool any = e->earlier_pacing != NULL;

	memset(sum, 0, sizeof(*sum));
	if (any)
		nic_pacing_merge(sum, e->earlier_pacing);
	for (uint32_t i = 0; i < e->n_ids; i++)
		any |= add_pacing(registry, e->ids[i], sum);
	return any;
}

uint64_t
flow_registry_paused_ns(const struct flow_registry *registry, const struct flow_entry *e,
			uint64_t now_ns)
{
	uint64_t paused_ns = e->earlier_paused_ns;

	for (uint32_t i = 0; i < e->n_ids; i++)
		paused_ns = max_u64(paused_ns, life_paused_ns(registry, e->ids[i], now_ns));
	return paused_ns;
}

uint64_t
flow_registry_active_ns(const struct flow_registry *registry, const struct flow_entry *e,
			uint64_t now_ns)
{
	uint64_t active_ns = e->earlier_active_ns;

	for (uint32_t i = 0; i < e->n_ids; i++)
		active_ns += life_active_ns(registry, registry->lives[e->ids[i]], now_ns);
	return active_ns;
}

/* ---- lives end ---- */

static bool
is_over(const struct flow_registry *registry, uint32_t id)
{
	const struct flow_life *life = registry->lives[id];
	bool over = life != NULL && __atomic_load_n(&life->users, __ATOMIC_ACQUIRE) == 0;

	/* No node knows a flow that was never added. */
	for (uint16_t i = 0;
	     over && read_ns(&life->added_ns) != NEVER_NS && i < registry->nodes->plan.n_lcores;
	     i++)
		over = nic_flow_is_free(registry->nodes->node[i], id);
	return over;
}

/* Move the counters of an ended life to its entry. */
static void
unlink_life(struct flow_registry *registry, uint32_t id)
{
	struct flow_life *life = registry->lives[id];
	struct flow_entry *e = life->entry;
	struct nic_flow_info info = e->earlier;
	struct nic_times *times = e->earlier_times;
	struct nic_pacing *pacing = e->earlier_pacing;

	add_info(registry, id, &info);
	/* An ended life has no rate, no round-trip time and no start. */
	info.started = false;
	info.started_ns = info.ended_ns = 0;
	info.sum.rate_bps = info.sum.target_rate_bps = info.sum.min_rate_bps = info.sum.rtt_ns = 0;
	if (times == NULL && nic_flow_times(registry->nodes->node[0], id) != NULL)
		times = calloc(1, sizeof(*times));
	if (pacing == NULL && nic_flow_pacing(registry->nodes->node[0], id) != NULL)
		pacing = calloc(1, sizeof(*pacing));
	pthread_rwlock_wrlock(&registry->lock);
	if (times != NULL)
		add_times(registry, id, times);
	if (pacing != NULL)
		add_pacing(registry, id, pacing);
	e->earlier = info;
	e->earlier_times = times;
	e->earlier_pacing = pacing;
	e->earlier_active_ns += life_active_ns(registry, life, NEVER_NS);
	e->earlier_paused_ns = max_u64(e->earlier_paused_ns,
				       life_paused_ns(registry, id, read_ns(&life->removed_ns)));
	for (uint32_t i = 0; i < e->n_ids; i++)
		if (e->ids[i] == id)
			e->ids[i] = e->ids[--e->n_ids];
	pthread_rwlock_unlock(&registry->lock);
}

static void
end_life(struct flow_registry *registry, uint32_t id)
{
	struct flow_life *life = registry->lives[id];
	uint32_t first = life->flow.first_number, n = life->flow.qp_count;

	if (read_ns(&life->added_ns) != NEVER_NS) {
		unlink_life(registry, id);
	} else {
		pthread_rwlock_wrlock(&registry->lock);
		for (uint32_t i = 0; i < life->entry->n_ids; i++)
			if (life->entry->ids[i] == id)
				life->entry->ids[i] = life->entry->ids[--life->entry->n_ids];
		pthread_rwlock_unlock(&registry->lock);
	}
	for (uint32_t i = 0; registry->nodes->placed && i < n; i++)
		nic_share_unassign(registry->nodes->share, first + i);
	for (uint16_t i = 0; i < registry->nodes->plan.n_lcores; i++) {
		nic_forget_flow(registry->nodes->node[i], id);
		if (registry->nodes->placed && life->places[i].n_qps > 0)
			ranges_give(&registry->items[i], life->places[i].first_item,
				    life->places[i].n_qps);
	}
	ranges_give(&registry->numbers, first, n);
	registry->lives[id] = NULL;
	free_life(life);
}

static void
reap(struct flow_registry *registry)
{
	for (uint32_t id = 0; id < registry->n_ids; id++)
		if (is_over(registry, id))
			end_life(registry, id);
}

void
flow_registry_release(struct flow_registry *registry, const struct nic_config *config)
{
	for (unsigned int i = 0; i < config->n_flows; i++)
		__atomic_sub_fetch(&registry->lives[config->flows[i].id]->users, 1,
				   __ATOMIC_RELEASE);
}

/* ---- lives begin ---- */

static struct flow_entry *
find_entry(const struct flow_registry *registry, const char *name)
{
	uint32_t i = names_find(&registry->entry_names, name);

	return i == NAMES_NONE ? NULL : registry->entries[i];
}

static int
grow_entries(struct flow_registry *registry)
{
	uint32_t capacity = registry->entries_capacity == 0 ? 16 : 2 * registry->entries_capacity;
	struct flow_entry **entries = calloc(capacity, sizeof(struct flow_entry *)), **before;

	if (entries == NULL)
		return -ENOMEM;
	if (registry->n_entries > 0)
		memcpy(entries, registry->entries,
		       registry->n_entries * sizeof(struct flow_entry *));
	pthread_rwlock_wrlock(&registry->lock);
	before = registry->entries;
	registry->entries = entries;
	registry->entries_capacity = capacity;
	pthread_rwlock_unlock(&registry->lock);
	free(before);
	return 0;
}

static struct flow_entry *
add_entry(struct flow_registry *registry, const char *name)
{
	struct flow_entry *e = NULL;

	if (registry->n_entries < registry->entries_capacity || grow_entries(registry) == 0)
		e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NULL;
	strcpy(e->flow.name, name);
	if (names_add(&registry->entry_names, e->flow.name) == NAMES_NONE) {
		free(e);
		return NULL;
	}
	pthread_rwlock_wrlock(&registry->lock);
	registry->entries[registry->n_entries++] = e;
	pthread_rwlock_unlock(&registry->lock);
	return e;
}

static int
link_life(struct flow_registry *registry, struct flow_life *life, uint32_t id)
{
	struct flow_entry *e = find_entry(registry, life->flow.name);
	uint32_t *ids, *before;

	if (e == NULL)
		e = add_entry(registry, life->flow.name);
	ids = e == NULL ? NULL : malloc((e->n_ids + 1) * sizeof(*ids));
	if (ids == NULL)
		return -ENOMEM;
	pthread_rwlock_wrlock(&registry->lock);
	if (e->n_ids > 0)
		memcpy(ids, e->ids, e->n_ids * sizeof(*ids));
	before = e->ids;
	e->ids = ids;
	e->ids[e->n_ids++] = id;
	e->flow = life->flow;
	e->flow.qp.cdf = NULL;
	life->entry = e;
	registry->lives[id] = life;
	if (id >= registry->n_ids)
		registry->n_ids = id + 1;
	pthread_rwlock_unlock(&registry->lock);
	free(before);
	return 0;
}

/* Choose consecutive items on each node for the flow's QPs. */
static int
find_places(struct flow_registry *registry, struct flow_life *life)
{
	struct nic_nodes *n = registry->nodes;
	uint32_t first = life->flow.first_number, next[NIC_SHARE_MAX_NODES];

	nodes_count(n, &life->flow, life->places);
	for (uint16_t i = 0; n->placed && i < n->plan.n_lcores; i++) {
		struct nic_flow_place *p = &life->places[i];
		int64_t item =
			p->n_qps == 0 ? 0 : ranges_take(&registry->items[i], p->n_qps, n->max_qps);

		if (item < 0) {
			for (uint16_t k = 0; k < n->plan.n_lcores; k++)
				if (k < i && life->places[k].n_qps > 0)
					ranges_give(&registry->items[k], life->places[k].first_item,
						    life->places[k].n_qps);
			return (int)item;
		}
		p->first_item = (uint32_t)item;
		next[i] = p->first_item;
	}
	for (uint32_t i = 0; n->placed && i < life->flow.qp_count; i++) {
		uint16_t at = nodes_home(n, &life->flow, i);

		nic_share_assign(n->share, first + i, (struct nic_location){at, next[at]++});
	}
	return 0;
}

static int
prepare(struct flow_registry *registry, struct flow_life *life, uint32_t id)
{
	struct nic_qp_params qp = life->flow.qp;
	int rc = 0;

	qp.flow_id = id;
	for (uint16_t i = 0; rc == 0 && i < registry->nodes->plan.n_lcores; i++) {
		life->places[i].first_number = life->flow.first_number;
		rc = nic_prepare_flow(registry->nodes->node[i], &qp, &life->places[i]);
	}
	return rc;
}

/* Begin the life of a flow that has its numbers. @return 0; or -errno, and its numbers are released
 * here or by reap(). */
static int
begin_life(struct flow_registry *registry, struct nic_flow *flow)
{
	size_t places = registry->nodes->plan.n_lcores * sizeof(struct nic_flow_place);
	struct flow_life *life = calloc(1, sizeof(*life) + places);
	uint32_t id = 0;
	int rc = life == NULL ? -ENOMEM : 0;

	while (id < registry->capacity && registry->lives[id] != NULL)
		id++;
	if (rc == 0 && id == registry->capacity)
		rc = -ENOSPC;
	if (rc == 0) {
		life->added_ns = life->removed_ns = NEVER_NS;
		life->flow = *flow;
		life->flow.id = id;
		/* The data path reads the message sizes for as long as the flow lives. */
		workload_share(&life->flow.qp.work);
	}
	if (rc == 0)
		rc = find_places(registry, life);
	if (rc == 0 && link_life(registry, life, id) != 0) {
		for (uint16_t i = 0; registry->nodes->placed && i < registry->nodes->plan.n_lcores;
		     i++)
			if (life->places[i].n_qps > 0)
				ranges_give(&registry->items[i], life->places[i].first_item,
					    life->places[i].n_qps);
		rc = -ENOMEM;
	}
	if (rc != 0) {
		free_life(life);
		ranges_give(&registry->numbers, flow->first_number, flow->qp_count);
		return rc;
	}
	flow->id = id;
	/* If this fails, reap() ends the life. */
	return prepare(registry, life, id);
}

static bool
is_new(void *arg, const struct nic_flow *flow)
{
	(void)arg;
	return flow->id == ID_NONE;
}

static int
begin_lives(struct flow_registry *registry, const struct config *cfg, struct nic_config *next,
	    struct config_error *err)
{
	int rc = nic_config_number(cfg, next, &registry->numbers, is_new, NULL, err);

	for (unsigned int i = 0; i < next->n_flows; i++) {
		struct nic_flow *flow = &next->flows[i];

		if (flow->id != ID_NONE || flow->first_number == NUMBER_NONE)
			continue;
		if (rc != 0) {
			ranges_give(&registry->numbers, flow->first_number, flow->qp_count);
			continue;
		}
		if (flow->qp.mtu_bytes > registry->nodes->mtu_bytes) {
			ranges_give(&registry->numbers, flow->first_number, flow->qp_count);
			rc = nic_config_refuse_flow(
				cfg, flow,
				"mtu_bytes must not exceed the largest mtu_bytes at start-up", err);
			continue;
		}
		rc = begin_life(registry, flow);
		if (rc == -ENOMEM)
			snprintf(err->text, sizeof(err->text), "[flow %s]: out of memory",
				 flow->name);
		else if (rc != 0)
			nic_config_refuse_flow(
				cfg, flow,
				"qp_count: the QPs of removed flows are not idle yet and leave "
				"too few free: try again, or raise max_qps of [nic]",
				err);
	}
	return rc;
}

int64_t
flow_registry_free_numbers(struct flow_registry *registry, uint32_t count)
{
	const uint32_t end = registry->nodes->max_qps;
	int64_t first;

	reap(registry);
	first = ranges_find(&registry->numbers, registry->asked_until, count, end);
	if (first < 0)
		first = ranges_find(&registry->numbers, 0, count, end);
	if (first >= 0)
		registry->asked_until = (uint32_t)first + count;
	return first;
}

int64_t
flow_registry_free_number(struct flow_registry *registry, uint32_t from)
{
	const uint32_t end = registry->nodes->max_qps;
	int64_t number;

	reap(registry);
	number = ranges_find(&registry->numbers, from, 1, end);
	return number < 0 ? ranges_find(&registry->numbers, 0, 1, end) : number;
}

int
flow_registry_assign(struct flow_registry *registry, const struct config *cfg,
		     const struct nic_config *now_config, struct nic_config *next,
		     struct config_error *err)
{
	struct names names = {0};
	int rc = 0;

	reap(registry);
	for (unsigned int i = 0; now_config != NULL && i < now_config->n_flows; i++)
		if (names_add(&names, now_config->flows[i].name) == NAMES_NONE)
			rc = -ENOMEM;
	if (rc != 0) {
		names_free(&names);
		snprintf(err->text, sizeof(err->text), "out of memory");
		return rc;
	}
	for (unsigned int i = 0; i < next->n_flows; i++) {
		struct nic_flow *flow = &next->flows[i];
		uint32_t at = names_find(&names, flow->name);
		const struct nic_flow *same = at == NAMES_NONE ? NULL : &now_config->flows[at];

		flow->id = same != NULL ? same->id : ID_NONE;
		flow->first_number = same != NULL ? same->first_number : NUMBER_NONE;
		flow->added_ns = same != NULL ? same->added_ns : 0;
	}
	names_free(&names);
	rc = begin_lives(registry, cfg, next, err);
	if (rc != 0) {
		/* The lives begun above have no users. */
		reap(registry);
		return rc;
	}
	for (unsigned int i = 0; i < next->n_flows; i++)
		__atomic_add_fetch(&registry->lives[next->flows[i].id]->users, 1, __ATOMIC_RELAXED);
	return 0;
}
