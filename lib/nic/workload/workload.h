/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of a flow: message sizes and arrival times. Nothing here depends on packets.
 *
 * Invariant (tested): the size of message m, and its gap as a share of the mean gap, are functions
 * of (seed, QP, m) alone. Thus a message can be sent again without a record of it, and a run
 * repeats. All arithmetic is on integers, so that compilers agree.
 *
 * Arrivals: `closed` keeps `depth` messages of a QP in flight; `on_off` does so during on_ns, and
 * begins no message during the following off_ns; `incast` begins one message of each QP of the flow
 * together, and the next round when all are acknowledged; `poisson`, `lognormal` and `periodic` are
 * open loops: messages arrive at load_bps whatever the network does, and queue at the source.
 *
 * Gaps of `lognormal`: mean * exp(sigma * Z - sigma^2 / 2) with a normal Z, as in Zhao et al.,
 * "Scalable Tail Latency Estimation for Data Center Networks" (Parsimon, NSDI 2023). The variance
 * is exp(sigma^2) - 1 times the square of the mean: with sigma = 1, 1.72 times that of poisson.
 */
#ifndef QUENCH_NIC_WORKLOAD_WORKLOAD_H
#define QUENCH_NIC_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field_table.h"
#include "base/numbers/units.h"

/* BY_QP, POSTED: no word of a file stands for them. */
enum workload_size {
	WORKLOAD_FIXED,
	WORKLOAD_UNIFORM,
	WORKLOAD_CDF,
	WORKLOAD_BY_QP,
	WORKLOAD_POSTED,
};
enum workload_arrival {
	WORKLOAD_CLOSED,
	WORKLOAD_POISSON,
	WORKLOAD_PERIODIC,
	WORKLOAD_ON_OFF,
	WORKLOAD_INCAST,
	WORKLOAD_LOGNORMAL,
	WORKLOAD_OF_JOB, /* no word of a file stands for it: messages that are posted */
};

#define WORKLOAD_CDF_POINTS 256
#define WORKLOAD_PATH_CHARS 128
#define WORKLOAD_MAX_BYTES (1ull << 31)

/* Distribution of sizes: a share share_q32[i] of the messages has at most bytes[i]; linear between
 * the points. */
struct workload_cdf {
	uint32_t n;
	uint64_t mean_bytes_q32;
	uint64_t bytes[WORKLOAD_CDF_POINTS];     /* not falling */
	uint64_t share_q32[WORKLOAD_CDF_POINTS]; /* rising to Q32_ONE */
};

/*
 * One size for all messages of a QP; QPs differ. It may change between two messages, if only one is
 * open at a time (nic_share_messages()).
 */
struct workload_by_qp {
	uint32_t first_qpn;
	uint32_t *bytes; /* of the QP of that number and of those after it */
};

/* A message that a job has posted. */
struct workload_post {
	uint64_t begun_ns; /* + 1: time of its first packet; 0: not measured, or before it */
	uint32_t bytes;
	uint32_t op;  /* of the job */
	uint32_t tag; /* its immediate data */
};

/* Messages of a QP: message m is ring[m & mask]. */
struct workload_posted {
	struct workload_post *ring;
	uint32_t mask; /* a power of two - 1: most that are posted and not acknowledged, - 1 */
	uint64_t posted;
};

/* Of the QPs of a flow. */
struct workload_posts {
	uint32_t first_qpn;
	struct workload_posted *qps; /* of the QP of that number and of those after it */
};

/* Members that the parameters of a flow share with struct workload. */
#define WORKLOAD_MEMBERS                                                                           \
	int message_size;           /* enum workload_size */                                       \
	int arrival;                /* enum workload_arrival */                                    \
	uint64_t message_bytes;     /* fixed: each message; uniform: the largest */                \
	uint64_t message_min_bytes; /* uniform: the smallest */                                    \
	uint64_t messages;          /* per QP; 0: until stop_ns */                                 \
	uint64_t bytes;             /* per QP: begin no message after this much; 0: no limit */    \
	uint64_t start_ns, stop_ns; /* after stop_ns (NEVER_NS: none) no message is begun */       \
	uint64_t load_bps;          /* open loops: payload per QP */                               \
	uint64_t on_ns, off_ns;                                                                    \
	uint64_t seed;                                                                             \
	uint32_t depth;                            /* messages in flight, closed loop */           \
	uint32_t arrival_sigma_pct;                /* lognormal */                                 \
	char message_cdf[WORKLOAD_PATH_CHARS + 1]; /* file that cdf was read from */               \
	const struct workload_by_qp *by_qp;        /* WORKLOAD_BY_QP: outlives the node */         \
	struct workload_posts *posts;              /* WORKLOAD_POSTED: outlives the node */        \
	const struct workload_cdf *cdf             /* owned by the configuration */

struct workload {
	WORKLOAD_MEMBERS;
};

/* Embed a workload in a struct: each member is accessible by name, and all of them as `work`. */
#define WORKLOAD_EMBED                                                                             \
	union {                                                                                    \
		struct workload work;                                                              \
		struct {                                                                           \
			WORKLOAD_MEMBERS;                                                          \
		};                                                                                 \
	}

/** @return 0, or as params_refuse(). */
int workload_check(const struct workload *w, char *why, unsigned int why_size);

/** Do both workloads give the same traffic? Does not compare start_ns of closed loops. */
bool workload_same(const struct workload *a, const struct workload *b);

/** Check the points and compute mean_bytes_q32. @return 0, or -EINVAL: not a distribution. */
int workload_cdf_finish(struct workload_cdf *cdf);

/** Largest payload that a message can have. */
uint64_t workload_largest_bytes(const struct workload *w);

/** Payload of a message. */
uint64_t workload_message_bytes(const struct workload *w, uint32_t qpn, uint64_t message);

/** A message of a QP that has been posted. */
static inline struct workload_post *
workload_post(const struct workload *w, uint32_t qpn, uint64_t message)
{
	const struct workload_posted *p = &w->posts->qps[qpn - w->posts->first_qpn];

	return &p->ring[message & p->mask];
}

/** Has it been? */
static inline bool
workload_is_posted(const struct workload *w, uint32_t qpn, uint64_t message)
{
	return message < w->posts->qps[qpn - w->posts->first_qpn].posted;
}

/** Do all messages have the same size? */
static inline bool
workload_is_fixed(const struct workload *w)
{
	return w->message_size == WORKLOAD_FIXED;
}

/** Is the number of messages, the number of bytes or the time limited? */
static inline bool
workload_ends(const struct workload *w)
{
	return w->messages > 0 || w->bytes > 0 || w->stop_ns != NEVER_NS;
}

/** Open loop: do messages arrive independently of the completion of others? */
static inline bool
workload_is_open(const struct workload *w)
{
	return w->arrival == WORKLOAD_POISSON || w->arrival == WORKLOAD_PERIODIC ||
	       w->arrival == WORKLOAD_LOGNORMAL;
}

/**
 * Open loops: gap between the previous arrival (or the start) and the arrival of this message, at a
 * constant load_bps > 0. Their mean over many messages is exact. @return at most 2^62.
 */
uint64_t workload_gap_ns(const struct workload *w, uint64_t load_bps, uint32_t qpn,
			 uint64_t message);

/** First time >= now_ns at which a message may begin: on_off waits for the next on_ns. */
uint64_t workload_on_at_ns(const struct workload *w, uint64_t now_ns);

extern const char *const workload_size_words[];
extern const char *const workload_arrival_words[];

/* Rows of a field table of struct OWNER, whose member W is a workload or holds WORKLOAD_EMBED. */
/* clang-format off */
#define WORKLOAD_FIELDS(owner, w, default_bytes, default_depth)                                     \
	{ FIELD_IN(owner, w, message_size), .type = FIELD_ENUM, .choices = workload_size_words, \
	  .def = "fixed",                                                                          \
	  .help = "sizes of messages: fixed (message_bytes), uniform (message_min_bytes to "       \
		  "message_bytes) or cdf (file message_cdf)" },                                    \
	{ FIELD_IN(owner, w, message_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,             \
	  .max = WORKLOAD_MAX_BYTES, .def = default_bytes,                                         \
	  .help = "payload of a message; the largest one with message_size = uniform" },           \
	{ FIELD_IN(owner, w, message_min_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,         \
	  .max = WORKLOAD_MAX_BYTES, .def = "0",                                                   \
	  .help = "smallest payload of a message with message_size = uniform" },                   \
	{ FIELD_IN(owner, w, message_cdf), .type = FIELD_STR, .max = WORKLOAD_PATH_CHARS,       \
	  .def = "",                                                                               \
	  .help = "sizes of messages: websearch, hadoop, alistorage, or a file, relative to this "  \
		  "file's folder; each line: a size in bytes and the percentage of messages of at " \
		  "most this size" },                                                              \
	{ FIELD_IN(owner, w, arrival), .type = FIELD_ENUM, .choices = workload_arrival_words,   \
	  .def = "closed",                                                                         \
	  .help = "arrival of messages: closed (depth in flight), poisson, lognormal or periodic at "\
		  "load_bps, "                                                                     \
		  "on_off (as closed during on_ns, no message begins during off_ns), incast (one " \
		  "message of each QP together, then the next round)" },                           \
	{ FIELD_IN(owner, w, arrival_sigma_pct), .type = FIELD_U32, .unit = UNIT_PCT,           \
	  .min = 1, .max = 300, .def = "100",                                                      \
	  .help = "arrival = lognormal: standard deviation of the logarithm of the gaps; 100 is 1" }, \
	{ FIELD_IN(owner, w, messages), .type = FIELD_U64, .max = UINT64_MAX, .def = "0",       \
	  .help = "messages per QP; 0: until stop_ns" },                                           \
	{ FIELD_IN(owner, w, bytes), .type = FIELD_U64, .unit = UNIT_BYTES, .max = 1ull << 60,  \
	  .def = "0", .help = "payload per QP after which no message begins; 0: no limit" },       \
	{ FIELD_IN(owner, w, depth), .type = FIELD_U32, .min = 1, .max = 1u << 16,              \
	  .def = default_depth,                                                                    \
	  .help = "messages in flight per QP; not used by open loops" },                           \
	{ FIELD_IN(owner, w, load_bps), .live = true, .type = FIELD_U64, .unit = UNIT_BPS, .max = 800 * GBPS, \
	  .def = "0", .help = "payload rate per QP of an open loop (poisson, lognormal, periodic)" }, \
	{ FIELD_IN(owner, w, on_ns), .type = FIELD_U64, .unit = UNIT_NS,                        \
	  .max = 3600 * NS_PER_SEC, .def = "0",                                                  \
	  .help = "length of the on phase of arrival = on_off" },                                  \
	{ FIELD_IN(owner, w, off_ns), .type = FIELD_U64, .unit = UNIT_NS,                       \
	  .max = 3600 * NS_PER_SEC, .def = "0",                                                  \
	  .help = "length of the off phase of arrival = on_off" },                                 \
	{ FIELD_IN(owner, w, seed), .type = FIELD_U64, .max = INT64_MAX, .def = "1",            \
	  .help = "seed of sizes and arrivals; equal seeds and QP numbers give equal traffic" },   \
	{ FIELD_IN(owner, w, start_ns), .type = FIELD_U64, .unit = UNIT_NS,                     \
	  .max = 24 * 3600 * NS_PER_SEC, .def = "0",                                               \
	  .help = "time from the start of the program to the first message" },                     \
	{ FIELD_IN(owner, w, stop_ns), .type = FIELD_U64, .unit = UNIT_NS, .max = UINT64_MAX,   \
	  .def = "never", .help = "time after which no message begins" }
/* clang-format on */

#endif
