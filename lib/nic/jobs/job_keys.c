/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/jobs/job_keys.h"

#include <errno.h>
#include <stdio.h>
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
	static const char *const of_collective[] = {
		"collective", "algorithm",          "bytes", "chunk_bytes", "channels",
		"compute_ns", "reduce_ps_per_byte",
	};

	if (!job_keys_has_file(keys))
		return NULL;
	for (unsigned int i = 0; i < ARRAY_LEN(of_collective); i++)
		if (strcmp(field->name, of_collective[i]) == 0)
			return "no such key beside goal, whose file says what each rank does";
	return NULL;
}

int
job_keys_build(const struct job_keys *keys, uint32_t n_ranks, struct job_graph *out,
	       struct job_fault *fault)
{
	const struct collective c = {
		.kind = keys->collective,
		.algorithm = keys->algorithm,
		.n_ranks = n_ranks,
		.bytes = keys->bytes,
		.chunk_bytes = keys->chunk_bytes,
		.channels = keys->channels,
		.compute_ns = keys->compute_ns,
		.reduce_ps_per_byte = keys->reduce_ps_per_byte,
		.rendezvous_bytes = keys->rendezvous_bytes,
	};
	int rc = collective_build(&c, out, fault);

	if (rc == -ENOMEM)
		snprintf(fault->why, sizeof(fault->why),
			 "fewer ranks, or larger chunks: out of memory");
	return rc;
}

const char *
job_keys_algorithm(const struct job_keys *keys)
{
	int algorithm = keys->algorithm;

	if (algorithm == COLLECTIVE_AUTO)
		algorithm = keys->collective == COLLECTIVE_ALL_TO_ALL ? COLLECTIVE_STAGGERED
								      : COLLECTIVE_RING;
	return collective_algorithm_words[algorithm];
}

uint64_t
job_keys_bound_ns(const struct job_keys *keys, uint32_t n_ranks, uint64_t link_bps, bool ipv6)
{
	double wire =
		(double)(keys->mtu_bytes + (ipv6 ? IPV6_BYTES : IPV4_BYTES)) / keys->mtu_bytes;
	double bytes = (double)keys->bytes * collective_bus_factor(keys->collective, n_ranks);
	uint64_t shorter_ns = mul_div(keys->compute_ns, keys->compute_jitter_ppm, 1000000);

	return keys->compute_ns - shorter_ns + (uint64_t)(8e9 * bytes * wire / (double)link_bps);
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
