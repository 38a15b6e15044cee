/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair of NICs, each of one to three nodes, on a bad cable: what a random script says
 * (pair_make.c), what its steps do (pair.c), what is known of the life from outside and must agree
 * with what the nodes say (pair_watch.c).
 */
#ifndef QUENCH_TEST_LIFE_PAIR_H
#define QUENCH_TEST_LIFE_PAIR_H

#include "base/sets/ranges.h"
#include "ctl/nic_config/nic_config.h"
#include "life.h"
#include "nic/measure/trace.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"
#include "nic/workload/arrivals.h"
#include "unit/nic/nic_test.h"

#define HOSTS 2
#define MOST_NODES 3
#define FLOWS 8
#define MOST_QPS 256u
#define TRACES 4u

/*
 * When the messages of an open loop come, from outside: it follows from its workload and from the
 * instants at which its load changed. nic/workload/arrivals.h says what a change does.
 */
struct expected_loop {
	bool on;
	bool leaves; /* no change concerns it any more */
	const struct workload *w;
	uint32_t qpn;
	uint64_t *arrived_ns;         /* of the last messages that came, a ring */
	uint64_t next, next_ns;       /* the message that comes next; as if it had not stopped */
	uint64_t from_ns, stopped_ns; /* the load in force began; NEVER_NS: it has not stopped */
	uint64_t load_bps;
	uint64_t slack_ns;     /* an arrival in a NIC may differ by so much: see rounded_ns() */
	uint64_t begun, acked; /* messages of which a packet was seen; that are acknowledged */
	uint64_t changes, changed_ns[ARRIVALS_SPANS];
};

/* What is known of one QP of a host, by its number. */
struct seen {
	bool made;      /* its flow has come into force at this host */
	bool has_state; /* last is of this QP */
	uint32_t flow, i;
	/* sent frames that are charged to it */
	uint64_t wire_bytes, packets;
	bool paces;
	__int128 credit_nanobits, least_nanobits; /* at most, at least */
	uint64_t updated_ns, rate_bps;
	bool was_begun; /* at the last look: the change was in force at its node */
	bool is_new;    /* while a change is put in force: the QP has done something under it */
	/* What it waits for is there from due_ns on; NEVER_NS: nobody knows. */
	enum nic_wait due_wait;
	uint64_t due_ns, looked_at_ns; /* it is looked at again by then */
	/* it holds still since */
	enum nic_wait reason;
	uint64_t still_ns, still_rate_bps; /* since; the lowest rate since its last frame */
	uint32_t front; /* of the PSNs sent: 1 + the highest, counted from the initial one */
	struct expected_loop arrivals;
	struct nic_qp_info last;
};

enum flow_state { ABSENT, WANTED, THERE, ENDING, ENDED };

/* One flow, from a host to the other. */
struct pair_flow {
	struct nic_flow config; /* as in a file, of the requester */
	unsigned int from;
	uint32_t n_qps, first[HOSTS];
	struct nic_qp_params params[HOSTS];
	enum flow_state state[HOSTS];
	bool cut_short;               /* the responder left first */
	uint64_t ended_ns;            /* at the requester */
	uint64_t added_ns;            /* wanted since */
	uint64_t made_ns[MOST_NODES]; /* the first QP of the requester; 0: none yet */
};

struct pair_host {
	struct nic_params first;     /* created with */
	struct nic_params wanted;    /* asked for last */
	struct nic_params old, next; /* in force; with is_pending one of the two, QP by QP */
	uint32_t burst_bytes;        /* the most that is in force */
	struct nic_share *share;
	struct node *node[MOST_NODES];
	struct nic_pools pools[MOST_NODES];
	bool is_poor; /* few mbufs were free when it was asked last */
	uint64_t poor_last_ns;
	uint64_t busy_until_ns, free_last_ns; /* its wire */
	struct ranges numbers;
	/* what is asked for, what is being put in force, and what was before */
	bool is_wanted, is_pending, has_begun[MOST_NODES];
	uint64_t begun_ns[MOST_NODES];
	struct nic_flow_update wanted_live[FLOWS], live[FLOWS], old_live[FLOWS];
	uint32_t to_remove[FLOWS], to_add[FLOWS], n_to_remove, n_to_add;
	uint32_t removed[FLOWS], added[FLOWS];
	struct nic_reload reload;
	struct seen seen[MOST_QPS];
	uint64_t paused_until_ns[TM_CLASSES];
	uint64_t paused_last_ns; /* some priority was paused */
	/* the cable from here */
	uint64_t sent, sent_bytes, cnps_sent, pauses_sent;
	/* and to here */
	uint64_t arrived, arrived_bytes, cnps_arrived;
	struct nic_trace *trace[TRACES];
	uint32_t trace_number[TRACES];
	struct nic_traces traces;
	struct nic_trace *old_trace[64];
	uint32_t n_old_traces;
};

/* The way from a host. */
struct bad_cable {
	uint64_t lose_ppm, twice_ppm, late_ppm, mark_ppm, late_ns, salt;
	uint64_t frames;
};

struct flying_frame {
	struct rte_mbuf *m;
	uint64_t due_ns, looked_at_ns; /* it is looked at again by then */
	uint32_t bytes;
};

#define PAIR_FLYING 16384u

struct pair_life {
	struct pair_host host[HOSTS];
	struct pair_flow flow[FLOWS];
	struct bad_cable cable[HOSTS];
	struct flying_frame flying[HOSTS][PAIR_FLYING];
	uint32_t head[HOSTS], tail[HOSTS];
	uint32_t n_nodes, max_qps;
	uint64_t speed_bps, delay_ns, salt;
	uint64_t now_ns, calls, most_calls;
	bool down, silent; /* the link; silent: the driver asks for no frames then */
	uint64_t down_last_ns;
	bool ending;
	bool errors; /* a QP may have failed */
	uint64_t digest;
};

extern struct pair_life pair_now;

static inline const struct nic_params *
params_of(unsigned int h)
{
	return &pair_now.host[h].next;
}

static inline struct nic_location
pair_place(unsigned int h, uint32_t number)
{
	return nic_share_find(pair_now.host[h].share, number);
}

static inline struct node *
pair_node(unsigned int h, uint32_t number, uint32_t *item)
{
	struct nic_location at = pair_place(h, number);

	*item = at.item;
	return pair_now.host[h].node[at.node];
}

/* Sections that keys of a host are of: nic_sections[] without [qos_map]. */
#define PAIR_SECTIONS (nic_sections_n - 1)
const struct field_section *pair_section(unsigned int i);

/** The row that "rp.rp_ai_rate_bps" names, or NULL. */
const struct field *pair_find_key(const char *key, size_t *offset);
/** Put "SECTION.KEY=VALUE" into params. @return false: no such key, or no such value. */
bool pair_set_key(struct nic_params *params, const char *word, bool live_only);
bool pair_params_are_good(const struct nic_params *params);

void pair_make(struct prng *r, FILE *out);

/** It begins with its flow. added_ns is its own from then on. */
void expected_loop_begin(struct expected_loop *o, const struct workload *w, uint32_t qpn,
			 uint64_t from_ns, const struct nic_flow_update *live);
void expected_loop_end(struct expected_loop *o);
/** Another load, a stop or its end at an instant. */
void expected_loop_change(struct expected_loop *o, const struct nic_flow_update *live,
			  uint64_t at_ns);
/** Let come what comes until then. */
void expected_loop_advance(struct expected_loop *o, uint64_t until_ns);
/** When did a message come, or when will it, as it stands? NEVER_NS: not before another change. */
uint64_t expected_loop_arrival_ns(const struct expected_loop *o, uint64_t message);
/** All before a message are acknowledged at now_ns. @return the sum of their times so far. */
uint64_t expected_loop_acked(struct expected_loop *o, uint64_t message, uint64_t now_ns);

/** A flow's QPs are there from now on, or no longer. */
void watch_came(unsigned int h, uint32_t flow);
void watch_went(unsigned int h, uint32_t flow);
/** Other parameters are asked for; they are in force. */
void watch_asked(unsigned int h);
void watch_in_force(unsigned int h);
/** A node did the next part of what is asked: with the first one all is in force there. */
void watch_stepped(unsigned int h, uint32_t k);
/** A frame leaves a host. */
void watch_sent(unsigned int h, const struct rte_mbuf *m, const struct roce_view *v);
/** A node of a host was called. */
void watch_called(unsigned int h);
/** A frame takes the wire of a host: how many bytes of it. */
void watch_wire(unsigned int h, uint32_t wire);
/** A pause frame arrives. */
void watch_pause(unsigned int h, const struct rte_mbuf *m);
/** Time passes: does anybody hold still? */
void watch_still(void);
/** Call all that reads, and compare it. */
void watch_read(unsigned int h);
/** A flow has ended at both hosts. */
void watch_ended(uint32_t flow);
/** All is over. */
void watch_end(void);

#endif
