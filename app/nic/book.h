/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a quench-nic, from when they come until nobody asks for them any more.
 *
 * A *life* is one flow as the data path knows it: a flow_id, numbers of QPs side by side, places at
 * each lcore. It begins when a configuration comes into force that has the flow, and ends when no
 * configuration does, the owners have found all its QPs at rest, and no reply shows it: then
 * numbers and places are another's. An *entry* is one name: what all lives of that name have
 * counted, so that nothing that was counted is lost and no counter goes back.
 *
 * One thread at a time changes it: the one that asks for a reload, never the data path. Others read
 * between book_read_begin() and book_read_end(); who changes it holds them up for microseconds.
 */
#ifndef QUENCH_APP_NIC_BOOK_H
#define QUENCH_APP_NIC_BOOK_H

#include <pthread.h>

#include "base/names.h"
#include "base/ranges.h"
#include "ctl/nic_config.h"
#include "nic/nic_flow.h"
#include "nic/nodes.h"

/* Of one entry at the last sample: the main lcore's. */
struct flow_mark {
	uint64_t wire_bytes, payload_bytes;
	struct nic_times *times; /* NULL: not measured, or nobody reads them */
	bool gone;               /* said so */
};

struct flow_entry {
	struct nic_flow flow; /* as it was last configured, without cdf */
	uint32_t *ids;        /* lives that are not over */
	uint32_t n_ids;
	/* of those that are */
	struct nic_flow_info earlier;
	struct nic_times *earlier_times;
	struct nic_pacing *earlier_pacing;
	uint64_t earlier_active_ns, earlier_paused_ns;
	struct flow_mark last;
};

struct flow_life;

struct book {
	struct nic_nodes *nodes;
	pthread_rwlock_t lock;
	struct flow_life **lives; /* by flow_id, of room; NULL: free */
	uint32_t room, n_ids;     /* flow_ids are below n_ids */
	struct flow_entry **entries;
	uint32_t n_entries, entries_room;
	struct names entry_names;
	struct ranges numbers;                    /* of QPs, counted from first_qpn */
	struct ranges items[NIC_SHARE_MAX_NODES]; /* of each node, where QPs are placed by RSS */
};

/** nodes are open. @return 0 or -ENOMEM; book_close() in both cases. */
int book_open(struct book *b, struct nic_nodes *nodes, uint32_t max_qps);
/** Before nodes_close(). Zero-initialised: nothing. */
void book_close(struct book *b);

/**
 * A configuration is to come into force: its flows get flow_ids and numbers, those of now_config
 * (NULL: none) with the same name keep theirs. New ones are ready for nic_reload().
 * @return 0, then book_leave() follows some time; or -EINVAL, -ENOMEM with err filled in.
 */
int book_enter(struct book *b, const struct config *cfg, const struct nic_config *now_config,
	       struct nic_config *next, struct config_error *err);
/** Nobody uses the configuration any more. From any thread. */
void book_leave(struct book *b, const struct nic_config *config);

/* On the main lcore, when nic_reload() is called. */
void book_came(struct book *b, uint32_t flow_id, uint64_t now_ns);
uint64_t book_came_ns(const struct book *b, uint32_t flow_id);
void book_went(struct book *b, uint32_t flow_id, uint64_t now_ns);

void book_read_begin(struct book *b);
void book_read_end(struct book *b);

/* In between, all lcores together, all that was ever counted under a name. */
struct flow_entry *book_entry_of(const struct book *b, uint32_t flow_id);
struct nic_flow_info book_info(const struct book *b, const struct flow_entry *e);
/** Into *sum. @return false: the flow is not measured. */
bool book_times(const struct book *b, const struct flow_entry *e, struct nic_times *sum);
bool book_pacing(const struct book *b, const struct flow_entry *e, struct nic_pacing *sum);
/** Time in which pauses have held its data. */
uint64_t book_paused_ns(const struct book *b, const struct flow_entry *e, uint64_t now_ns);
/** Time in which it could send. */
uint64_t book_active_ns(const struct book *b, const struct flow_entry *e, uint64_t now_ns);

#endif
