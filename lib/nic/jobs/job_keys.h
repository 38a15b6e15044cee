/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of a job that the lab and ports share: what its ranks do in an iteration, how often, and how
 * their messages travel. Where its ranks are is a key of each program.
 */
#ifndef QUENCH_NIC_JOBS_JOB_KEYS_H
#define QUENCH_NIC_JOBS_JOB_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field_table.h"
#include "base/numbers/units.h"
#include "job/collective.h"
#include "nic/params/nic_params.h"

#define JOB_PATH_CHARS 128
#define JOB_STAGES_CHARS 1023
#define JOB_RANKS_CHARS 255

#define JOB_KEYS_MEMBERS                                                                           \
	char goal[JOB_PATH_CHARS + 1]; /* file; "none": collective applies */                      \
	int collective;                /* enum collective_kind */                                  \
	int algorithm;                 /* enum collective_algorithm */                             \
	uint64_t bytes, chunk_bytes;                                                               \
	char matrix[JOB_PATH_CHARS + 1];   /* file; "none" */                                      \
	struct job_matrix sizes;           /* its contents, set by its reader */                   \
	char stages[JOB_STAGES_CHARS + 1]; /* "none": collective applies */                        \
	char stragglers[JOB_RANKS_CHARS + 1];                                                      \
	uint32_t straggler_slowdown_ppm;                                                           \
	uint32_t channels;                                                                         \
	uint64_t compute_ns;                                                                       \
	uint32_t compute_jitter_ppm;                                                               \
	uint64_t reduce_ps_per_byte, send_overhead_ns;                                             \
	uint64_t rendezvous_bytes; /* 0: none */                                                   \
	uint32_t iterations;                                                                       \
	uint64_t start_ns;                                                                         \
	uint16_t qps_per_pair, mtu_bytes;                                                          \
	int8_t dscp; /* -1: data_dscp of the NIC */                                                \
	int cc;      /* a choice (cc.h) */                                                         \
	bool stopped /* ranks begin no message */

struct job_keys {
	JOB_KEYS_MEMBERS;
};

/* Embed the keys in a struct: each is accessible by name, and all of them as `keys`. */
#define JOB_KEYS_EMBED                                                                             \
	union {                                                                                    \
		struct job_keys keys;                                                              \
		struct {                                                                           \
			JOB_KEYS_MEMBERS;                                                          \
		};                                                                                 \
	}

/** Has the job a GOAL file, and no collective? */
bool job_keys_has_file(const struct job_keys *keys);

/** What is expected instead of a key that has no effect beside the others; NULL: it has one. */
const char *job_keys_unused(const struct job_keys *keys, const struct field *field);

/** Free what a reader has put into the keys. */
void job_keys_release(struct job_keys *keys);

/** Has the job stages, and no collective of its own? */
bool job_keys_has_stages(const struct job_keys *keys);

/** Does one of its collectives have the sizes of matrix? */
bool job_keys_has_matrix(const struct job_keys *keys);

/** Are the stragglers ranks below n_ranks? */
bool job_keys_stragglers_fit(const struct job_keys *keys, uint32_t n_ranks);
/** Duration of a computation of this rank, as a share of the configured one. */
uint32_t job_keys_slowdown_ppm(const struct job_keys *keys, uint32_t rank);

/**
 * Build the graph of a job without a file.
 * @param servers  Of the ranks; NULL: they do not matter.
 * @return         As collective_build().
 */
int job_keys_build(const struct job_keys *keys, uint32_t n_ranks,
		   const struct collective_servers *servers, struct job_graph *out,
		   struct job_fault *fault);

/** The algorithm in use: for auto, the one that it stands for. */
const char *job_keys_algorithm(const struct job_keys *keys);

/**
 * Of a job without a file: the time that no network with host links of this rate can undercut. It
 * is the computations of a rank, and the bytes that its link carries at least, in frames of
 * mtu_bytes (nccl-tests, doc/PERFORMANCE.md).
 */
uint64_t job_keys_bound_ns(const struct job_keys *keys, uint32_t n_ranks, uint64_t link_bps,
			   bool ipv6);

/* The ranks of a job on servers. */
struct job_places {
	const struct collective_servers *servers;
	const uint64_t *links_bps; /* by server: of all its NICs that have ranks of the job */
	uint64_t inside_bps;       /* from a rank to others of its server */
};

/**
 * As job_keys_bound_ns(), of ranks on servers: only bytes between servers pass the links. On one
 * server alone, the bytes of a rank pass inside.
 */
uint64_t job_keys_servers_bound_ns(const struct job_keys *keys, const struct job_places *places,
				   bool ipv6);

/** The size for bandwidths: bytes, or the largest load of matrix; 0: the job has none. */
uint64_t job_keys_bytes(const struct job_keys *keys);

/* The largest message of a graph, and most messages that one rank sends another in an iteration. */
struct job_sizes {
	uint64_t bytes;
	uint32_t sends;
};

struct job_sizes job_sizes_of(const struct job_graph *graph);

/* Rows of a field table of struct OWNER, which has JOB_KEYS_EMBED. */
/* clang-format off */
#define JOB_KEYS_FIELDS(owner)                                                                     \
	{FIELD_OF(owner, goal), .type = FIELD_STR, .min = 1, .max = JOB_PATH_CHARS, .def = "none", \
	 .help = "GOAL file of the operations of each rank, relative to the file of this "          \
		 "section; none: collective applies"},                                              \
	{FIELD_OF(owner, collective), .type = FIELD_ENUM, .choices = collective_words,             \
	 .def = "all_reduce",                                                                      \
	 .help = "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, all_to_all_v with " \
		 "the sizes of matrix, all_to_all_v_back with those of the transposed matrix, or "  \
		 "pipeline: each rank receives from the one before, computes and sends to the next"}, \
	{FIELD_OF(owner, algorithm), .type = FIELD_ENUM, .choices = collective_algorithm_words,    \
	 .def = "auto",                                                                            \
	 .help = "ring, halving_doubling, double_binary_tree, or hierarchical for ranks on servers "  \
		 "of quench-lab; of all_to_all: pairwise, linear or staggered; auto: ring, of "      \
		 "all_to_all staggered"},                                                           \
	{FIELD_OF(owner, matrix), .type = FIELD_STR, .min = 1, .max = JOB_PATH_CHARS,              \
	 .def = "none",                                                                            \
	 .help = "file of the sizes of all_to_all_v, relative to the file of this section: n lines " \
		 "of n numbers of bytes; line i, column k: from rank i - 1 to rank k - 1"},         \
	{FIELD_OF(owner, stages), .type = FIELD_STR, .min = 1, .max = JOB_STAGES_CHARS,            \
	 .def = "none",                                                                            \
	 .help = "an iteration as collectives and computations in order, such as compute 50us, "    \
		 "all_to_all pairwise 8MB, all_to_all_v, all_reduce 64MB; none: collective applies"}, \
	{FIELD_OF(owner, bytes), .type = FIELD_U64, .unit = UNIT_BYTES, .min = 1,                  \
	 .max = 1ull << 45, .def = "1MB",                                                          \
	 .help = "size of the collective as nccl-tests print it: of the largest array of a rank"}, \
	{FIELD_OF(owner, chunk_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,                      \
	 .max = JOB_MAX_BYTES, .def = "0",                                                         \
	 .help = "largest message: a larger one is sent in several, each of which goes on as "      \
		 "soon as it has arrived; pipeline: of a microbatch; 0: messages are not divided"}, \
	{FIELD_OF(owner, channels), .type = FIELD_U32, .min = 1, .max = 64, .def = "1",            \
	 .help = "the array is divided among as many collectives beside each other"},              \
	{FIELD_OF(owner, compute_ns), .type = FIELD_U64, .unit = UNIT_NS,                          \
	 .max = 3600 * NS_PER_SEC, .def = "0",                                                     \
	 .help = "computation of each rank before it sends in an iteration; of pipeline: before "   \
		 "each send"},                                                                      \
	{FIELD_OF(owner, compute_jitter_ppm), .least_bare = 1000, .type = FIELD_U32,               \
	 .unit = UNIT_PPM, .max = 1000000, .def = "0", .aliases = {{.name = "compute_jitter"}},    \
	 .help = "each computation lasts up to this share longer or shorter, drawn by the seed"},  \
	{FIELD_OF(owner, stragglers), .type = FIELD_STR, .min = 1, .max = JOB_RANKS_CHARS,         \
	 .def = "none", .help = "ranks that compute more slowly, such as 3 or 0-3, 7"},            \
	{FIELD_OF(owner, straggler_slowdown_ppm), .least_bare = 1000, .type = FIELD_U32,           \
	 .unit = UNIT_PPM, .min = 1000000, .max = 1000000000, .def = "200%",                       \
	 .aliases = {{.name = "straggler_slowdown"}},                                              \
	 .help = "duration of a straggler's computation, as a share of that of other ranks"},      \
	{FIELD_OF(owner, reduce_ps_per_byte), .type = FIELD_U64, .max = 1000000, .def = "0",       \
	 .help = "time in ps that a rank takes to add a byte that it has received to its own"},    \
	{FIELD_OF(owner, send_overhead_ns), .type = FIELD_U64, .unit = UNIT_NS,                    \
	 .max = NS_PER_SEC, .def = "0",                                                            \
	 .help = "time that a rank's software takes to begin a message, one after another: o of "  \
		 "LogGOPS"},                                                                       \
	{FIELD_OF(owner, rendezvous_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,                 \
	 .max = JOB_MAX_BYTES, .def = "0", .least_bare = 1,                                        \
	 .help = "messages of this size or more wait at their sender until their recv has begun; "  \
		 "0: no message waits"},                                                            \
	{FIELD_OF(owner, iterations), .type = FIELD_U32, .min = 1, .max = 1000000, .def = "1",     \
	 .help = "number of iterations; a rank begins one when it has ended the one before"},      \
	{FIELD_OF(owner, start_ns), .type = FIELD_U64, .unit = UNIT_NS,                            \
	 .max = 24 * 3600 * NS_PER_SEC, .def = "0", .help = "time at which all ranks begin"},      \
	{FIELD_OF(owner, qps_per_pair), .type = FIELD_U16, .min = 1, .max = 64, .def = "1",        \
	 .help = "QPs from a rank to another one; each message is divided among them"},            \
	{FIELD_OF(owner, mtu_bytes), .type = FIELD_U16, .min = NIC_MIN_MTU, .max = NIC_MAX_MTU,    \
	 .def = "1024", .help = "path MTU: " NIC_MTU_TEXT},                                        \
	{FIELD_OF(owner, dscp), .type = FIELD_I8, .min = -1, .max = 63, .def = "-1",               \
	 .help = "DSCP of the job's data, and of ACK and NAK without ack_dscp; -1: data_dscp of "   \
		 "[nic]"},                                                                          \
	{FIELD_OF(owner, cc), .type = FIELD_ENUM, .choices = cc_choice_words, .def = "default",    \
	 .help = "congestion control of the job's data; default: as of a flow without cc"},        \
	{FIELD_OF(owner, stopped), .type = FIELD_BOOL, .def = "off", .live = true,                 \
	 .help = "on: ranks begin no message until a change of this key to off"}
/* clang-format on */

#endif
