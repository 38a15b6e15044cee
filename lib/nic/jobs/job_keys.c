/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/jobs/job_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"

/* Bytes of a frame of a message, beside its payload: Ethernet, IP, UDP, BTH, ICRC and FCS, preamble
 * and gap. Left out: RETH and immediate data, which only its first and last frame have. */
#define IPV4_BYTES 82u
#define IPV6_BYTES 102u

bool
job_keys_has_file(const struct job_keys *keys)
{
	return strcmp(keys->goal, "none") != 0;
}

const char *
job_keys_unused(const struct job_keys *keys, const struct field *field)
{
	/* The graph of a file does not follow from them. */
	static const struct {
		const char *name;
		bool of_stages; /* each stage has its own */
	} of_collective[] = {
		{"collective", true}, {"algorithm", true},           {"bytes", true},
		{"compute_ns", true}, {"chunk_bytes", false},        {"channels", false},
		{"stages", false},    {"reduce_ps_per_byte", false}, {"send_overhead_ns", false},
	};
	bool file = job_keys_has_file(keys), stages = !file && job_keys_has_stages(keys);

	for (unsigned int i = 0; i < ARRAY_LEN(of_collective); i++) {
		if (strcmp(field->name, of_collective[i].name) != 0)
			continue;
		if (file)
			return "no such key beside goal, whose file says what each rank does";
		if (stages && of_collective[i].of_stages)
			return "no such key beside stages, which have their own";
	}
	if (strcmp(field->name, "matrix") == 0 && !job_keys_has_matrix(keys))
		return "no such key without all_to_all_v or all_to_all_v_back";
	if (strcmp(field->name, "bytes") == 0 && collective_has_matrix(keys->collective))
		return "no such key beside matrix, which has the sizes";
	if (strcmp(field->name, "straggler_slowdown_ppm") == 0 &&
	    strcmp(keys->stragglers, "none") == 0)
		return "no such key without stragglers";
	return NULL;
}

bool
job_keys_has_stages(const struct job_keys *keys)
{
	return strcmp(keys->stages, "none") != 0;
}

bool
job_keys_has_matrix(const struct job_keys *keys)
{
	if (job_keys_has_file(keys))
		return false;
	if (job_keys_has_stages(keys))
		return strstr(keys->stages, "all_to_all_v") != NULL;
	return collective_has_matrix(keys->collective);
}

void
job_keys_release(struct job_keys *keys)
{
	matrix_free(&keys->sizes);
}

/* Index of a word in a list, or -1. */
static int
index_of(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* A number with its unit. @return false: it is none. */
static bool
read_amount(const char *word, enum field_unit unit, uint64_t most, uint64_t *out)
{
	const struct field field = {
		.name = "stages", .type = FIELD_U64, .unit = unit, .min = 1, .max = most};

	return word != NULL && field_parse(&field, NULL, word, out, NULL, 0) == 0;
}

/* "compute 50us", "all_to_all pairwise 8MB", "all_to_all_v linear". @return false: none of them. */
static bool
read_stage(char *text, struct collective *out)
{
	char *rest = text, *word = strtok_r(rest, " ", &rest), *next = strtok_r(rest, " ", &rest);

	if (word == NULL)
		return false;
	if (strcmp(word, "compute") == 0) {
		out->kind = COLLECTIVE_COMPUTE;
		return read_amount(next, UNIT_NS, JOB_MAX_NS, &out->compute_ns) &&
		       strtok_r(rest, " ", &rest) == NULL;
	}
	out->kind = index_of(collective_words, word);
	if (out->kind < 0)
		return false;
	if (next != NULL && index_of(collective_algorithm_words, next) >= 0) {
		out->algorithm = index_of(collective_algorithm_words, next);
		next = strtok_r(rest, " ", &rest);
	}
	if (collective_has_matrix(out->kind))
		return next == NULL;
	return read_amount(next, UNIT_BYTES, 1ull << 45, &out->bytes) &&
	       strtok_r(rest, " ", &rest) == NULL;
}

/* Ranks of each server; 0: not all have as many. */
static uint32_t
ranks_of_each(const struct collective_servers *servers)
{
	uint32_t n = servers->first[1];

	for (uint32_t i = 1; i < servers->n; i++)
		if (servers->first[i + 1] - servers->first[i] != n)
			return 0;
	return n;
}

/*
 * The stages of a job without a file; one, if it has a collective.
 * @return their number, or -EINVAL with fault filled in.
 */
static int
stages_of(const struct job_keys *keys, uint32_t n_ranks, const struct collective_servers *servers,
	  struct collective out[COLLECTIVE_MAX_STAGES], struct job_fault *fault)
{
	char text[JOB_STAGES_CHARS + 1], *rest = text, *stage;
	const struct collective common = {
		.n_ranks = n_ranks,
		.ranks_per_server = servers == NULL ? 0 : ranks_of_each(servers),
		.chunk_bytes = keys->chunk_bytes,
		.channels = keys->channels,
		.reduce_ps_per_byte = keys->reduce_ps_per_byte,
		.send_overhead_ns = keys->send_overhead_ns,
		.rendezvous_bytes = keys->rendezvous_bytes,
		.matrix = &keys->sizes,
	};
	int n = 0;

	out[0] = common;
	out[0].kind = keys->collective;
	out[0].algorithm = keys->algorithm;
	out[0].bytes = keys->bytes;
	out[0].compute_ns = keys->compute_ns;
	if (!job_keys_has_stages(keys))
		return 1;
	strcpy(text, keys->stages);
	while ((stage = strsep(&rest, ",")) != NULL) {
		char copy[JOB_STAGES_CHARS + 1];

		strcpy(copy, stage);
		if (n < (int)COLLECTIVE_MAX_STAGES)
			out[n] = common;
		if (n == (int)COLLECTIVE_MAX_STAGES || !read_stage(stage, &out[n])) {
			*fault = (struct job_fault){0};
			snprintf(
				fault->why, sizeof(fault->why),
				"1 to %u stages, each such as compute 50us, all_reduce 64MB or all_to_all pairwise 8MB, "
				"not \"%.60s\"",
				COLLECTIVE_MAX_STAGES, copy);
			return -EINVAL;
		}
		n++;
	}
	return n;
}

/* Is the rank in the list? *largest: its largest rank; JOB_NONE: it is not a list. */
static bool
in_list(const char *list, uint32_t rank, uint32_t *largest)
{
	bool found = false;

	*largest = 0;
	if (strcmp(list, "none") == 0)
		return false;
	for (const char *at = list;;) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at)
			break;
		if (*end == '-')
			last = strtoul(at = end + 1, &end, 10);
		if (end == at || last < first || last >= JOB_MAX_RANKS)
			break;
		found |= rank >= first && rank <= last;
		*largest = (uint32_t)max_u64(*largest, last);
		end += strspn(end, " ");
		if (*end == '\0')
			return found;
		if (*end != ',')
			break;
		at = end + 1 + strspn(end + 1, " ");
	}
	*largest = JOB_NONE;
	return false;
}

bool
job_keys_stragglers_fit(const struct job_keys *keys, uint32_t n_ranks)
{
	uint32_t largest;

	(void)in_list(keys->stragglers, 0, &largest);
	return largest < n_ranks;
}

uint32_t
job_keys_slowdown_ppm(const struct job_keys *keys, uint32_t rank)
{
	uint32_t largest;

	return in_list(keys->stragglers, rank, &largest) ? keys->straggler_slowdown_ppm : 1000000;
}

int
job_keys_build(const struct job_keys *keys, uint32_t n_ranks,
	       const struct collective_servers *servers, struct job_graph *out,
	       struct job_fault *fault)
{
	struct collective stages[COLLECTIVE_MAX_STAGES];
	int n = stages_of(keys, n_ranks, servers, stages, fault);
	int rc = n < 0 ? n : collective_build(stages, (uint32_t)n, out, fault);

	if (rc == -ENOMEM)
		snprintf(fault->why, sizeof(fault->why),
			 "fewer ranks, or larger chunks: out of memory");
	return rc;
}

const char *
job_keys_algorithm(const struct job_keys *keys)
{
	bool staggered = keys->collective == COLLECTIVE_ALL_TO_ALL ||
			 collective_has_matrix(keys->collective);
	int algorithm = keys->algorithm;

	if (algorithm == COLLECTIVE_AUTO)
		algorithm = staggered ? COLLECTIVE_STAGGERED : COLLECTIVE_RING;
	return collective_algorithm_words[algorithm];
}

/* Bytes on the wire for one of a message. */
static double
wire_per_byte(const struct job_keys *keys, bool ipv6)
{
	return (double)(keys->mtu_bytes + (ipv6 ? IPV6_BYTES : IPV4_BYTES)) / keys->mtu_bytes;
}

static uint64_t
ns_at(double bytes, uint64_t rate_bps)
{
	return (uint64_t)(8e9 * bytes / (double)rate_bps);
}

/* Least time that a rank computes. */
static uint64_t
compute_ns_of(const struct job_keys *keys, const struct collective *stages, int n, uint32_t rank)
{
	uint64_t ns = 0;

	for (int i = 0; i < n; i++)
		ns += stages[i].compute_ns;
	ns = mul_div(ns, job_keys_slowdown_ppm(keys, rank), 1000000);
	return ns - mul_div(ns, keys->compute_jitter_ppm, 1000000);
}

static double
load_of(const struct collective *stages, int n, uint32_t rank)
{
	double bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += collective_load(&stages[i], rank);
	return bytes;
}

uint64_t
job_keys_bound_ns(const struct job_keys *keys, uint32_t n_ranks, uint64_t link_bps, bool ipv6)
{
	double wire = wire_per_byte(keys, ipv6);
	struct collective stages[COLLECTIVE_MAX_STAGES];
	struct job_fault fault;
	int n = stages_of(keys, n_ranks, NULL, stages, &fault);
	uint64_t most_ns = 0;

	for (uint32_t rank = 0; rank < n_ranks; rank++)
		most_ns =
			max_u64(most_ns, compute_ns_of(keys, stages, n, rank) +
						 ns_at(load_of(stages, n, rank) * wire, link_bps));
	return most_ns;
}

uint64_t
job_keys_servers_bound_ns(const struct job_keys *keys, const struct job_places *places, bool ipv6)
{
	const struct collective_servers *servers = places->servers;
	double wire = wire_per_byte(keys, ipv6);
	struct collective stages[COLLECTIVE_MAX_STAGES];
	struct job_fault fault;
	int n = stages_of(keys, servers->first[servers->n], servers, stages, &fault);
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < servers->n; i++) {
		/* The fastest rank of a server may be the first whose bytes leave it. */
		uint64_t least_ns = UINT64_MAX;
		double bytes = 0;

		for (int k = 0; k < n; k++)
			bytes += collective_server_load(&stages[k], servers, i);
		for (uint32_t rank = servers->first[i]; rank < servers->first[i + 1]; rank++) {
			uint64_t ns = compute_ns_of(keys, stages, n, rank);

			least_ns = min_u64(least_ns, ns);
			if (servers->n == 1)
				ns += ns_at(load_of(stages, n, rank), places->inside_bps);
			most_ns = max_u64(most_ns, ns);
		}
		most_ns = max_u64(most_ns, least_ns + ns_at(bytes * wire, places->links_bps[i]));
	}
	return most_ns;
}

uint64_t
job_keys_bytes(const struct job_keys *keys)
{
	if (job_keys_has_file(keys) || job_keys_has_stages(keys))
		return 0;
	return collective_has_matrix(keys->collective) ? matrix_load(&keys->sizes) : keys->bytes;
}

struct job_sizes
job_sizes_of(const struct job_graph *graph)
{
	struct job_sizes sizes = {0};

	for (uint32_t rank = 0; rank < graph->n_ranks; rank++) {
		const struct job_rank *r = &graph->ranks[rank];

		for (uint32_t i = 0; i < r->n_ops; i++)
			if (r->ops[i].kind == JOB_SEND)
				sizes.bytes = max_u64(sizes.bytes, r->ops[i].amount);
		for (uint32_t i = 0; i < r->n_peers; i++)
			sizes.sends = (uint32_t)max_u64(sizes.sends, r->peers[i].n_sends);
	}
	return sizes;
}
