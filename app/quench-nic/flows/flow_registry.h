/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow registry of quench-nic: every flow that was ever configured, with its numbers and counters.
 *
 * A *life* is one flow in the data path: a flow_id, consecutive QP numbers, places at each lcore.
 * It begins when a configuration with the flow takes effect. It ends when no configuration has the
 * flow, all its QPs are idle, and no reply uses it; its numbers and places are then free. An
 * *entry* is one flow name with the counters of all its lives, so no count is lost and no counter
 * decreases.
 *
 *     count of a name = sum over its ended lives (earlier) + sum over its present lives
 *
 * One thread at a time modifies it: the one that requests a reload, never the data path. Others
 * read between flow_registry_read_begin() and flow_registry_read_end(); a writer blocks them for
 * microseconds.
 */
#ifndef QUENCH_APP_QUENCH_NIC_FLOWS_FLOW_REGISTRY_H
#define QUENCH_APP_QUENCH_NIC_FLOWS_FLOW_REGISTRY_H

#include <pthread.h>

#include "base/sets/names.h"
#include "base/sets/ranges.h"
#include "ctl/nic_config/nic_config.h"
#include "nic/observe/flow_info.h"
#include "quench-nic/nodes/nodes.h"

/* Counters of an entry at the last sample. Main lcore only. */
struct flow_mark {
	uint64_t wire_bytes, payload_bytes;
	struct nic_times *times; /* NULL: not measured, or no output needs them */
	bool gone;               /* reported as removed */
};

struct flow_entry {
	struct nic_flow flow; /* configuration of the flow's latest life, without cdf */
	uint32_t *ids;        /* present lives */
	uint32_t n_ids;
	/* of ended lives */
	struct nic_flow_info earlier;
	struct nic_times *earlier_times;
	struct nic_pacing *earlier_pacing;
	uint64_t earlier_active_ns, earlier_paused_ns;
	struct flow_mark last;
};

struct flow_life;

struct flow_registry {
	struct nic_nodes *nodes;
	pthread_rwlock_t lock;
	struct flow_life **lives; /* by flow_id; NULL: free */
	uint32_t capacity, n_ids; /* flow_ids are below n_ids */
	struct flow_entry **entries;
	uint32_t n_entries, entries_capacity;
	struct names entry_names;
	struct ranges numbers;                    /* QP numbers, counted from first_qpn */
	uint32_t asked_until;                     /* of flow_registry_free_numbers() */
	struct ranges items[NIC_SHARE_MAX_NODES]; /* QP items of each node, if placed by RSS */
};

/** Call after nodes_open(). @return 0 or -ENOMEM; call flow_registry_close() in both cases. */
int flow_registry_open(struct flow_registry *registry, struct nic_nodes *nodes, uint32_t max_qps);
/** Call when no lcore polls any more: lives own message sizes that the data path reads. Does
 * nothing on a zero-initialised registry. */
void flow_registry_close(struct flow_registry *registry);

/**
 * Give the flows of the next configuration their flow_ids and QP numbers. A flow of now_config
 * (NULL: none) with the same name keeps its own; new flows are prepared for nic_reload().
 * @return 0, and flow_registry_release() must follow; or -errno with err filled in.
 */
int flow_registry_assign(struct flow_registry *registry, const struct config *cfg,
			 const struct nic_config *now_config, struct nic_config *next,
			 struct config_error *err);
/** Release a configuration that nothing uses any more. Any thread. */
void flow_registry_release(struct flow_registry *registry, const struct nic_config *config);

/**
 * Find count > 0 consecutive QP numbers below max_qps that no flow has, counted from first_qpn: the
 * next ones after the last answer, or else the lowest, so that two who ask one after the other get
 * different ones as long as there are others. @return the first, or -ENOSPC.
 */
int64_t flow_registry_free_numbers(struct flow_registry *registry, uint32_t count);

/** A number that no flow has, counted from first_qpn: this one or a later one. @return as above. */
int64_t flow_registry_free_number(struct flow_registry *registry, uint32_t from);

/**
 * What each flow of a configuration, which the caller holds, waits for now: one that has not ended,
 * or that has not ended the round of their barrier. Any thread.
 * @return  Indices, that of a flow itself if it waits for none; to free(). NULL: no flow waits, or
 *          no memory.
 */
uint32_t *flow_registry_awaited(const struct flow_registry *registry,
				const struct nic_config *config);
/**
 * QPs with an end that never begin, or never end: they wait, in the end, for a flow of which QPs
 * gave up. Any thread.
 * @param flow  The index of such a flow that has not begun, unless there are none.
 */
uint64_t flow_registry_stuck_qps(const struct flow_registry *registry,
				 const struct nic_config *config, uint32_t *flow);

/* Called on the main lcore together with nic_reload(). */
void flow_registry_added(struct flow_registry *registry, uint32_t flow_id, uint64_t now_ns);
uint64_t flow_registry_added_ns(const struct flow_registry *registry, uint32_t flow_id);
void flow_registry_removed(struct flow_registry *registry, uint32_t flow_id, uint64_t now_ns);

void flow_registry_read_begin(struct flow_registry *registry);
void flow_registry_read_end(struct flow_registry *registry);

/** Counters of one life, of a flow in a configuration that the caller holds. Any thread. */
struct nic_flow_info flow_registry_life_info(struct flow_registry *registry, uint32_t flow_id);

/* Between read_begin() and read_end(): sums over all lcores and all lives of an entry. */
struct flow_entry *flow_registry_entry_of(const struct flow_registry *registry, uint32_t flow_id);
struct nic_flow_info flow_registry_info(const struct flow_registry *registry,
					const struct flow_entry *e);
/** QPs of removed flows of this name that are not idle yet: its counters may still rise. */
uint32_t flow_registry_ending_qps(const struct flow_registry *registry, const struct flow_entry *e);
/** Sum the flow's times into *sum. @return false: the flow is not measured. */
bool flow_registry_times(const struct flow_registry *registry, const struct flow_entry *e,
			 struct nic_times *sum);
bool flow_registry_pacing(const struct flow_registry *registry, const struct flow_entry *e,
			  struct nic_pacing *sum);
/**
 * Time during which pause frames stopped the flow's data.
 */
uint64_t flow_registry_paused_ns(const struct flow_registry *registry, const struct flow_entry *e,
				 uint64_t now_ns);
/**
 * Time during which the flow was allowed to send.
 */
uint64_t flow_registry_active_ns(const struct flow_registry *registry, const struct flow_entry *e,
				 uint64_t now_ns);

#endif
