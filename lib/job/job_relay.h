/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that go through a third rank, as those of NCCL that pass from a GPU through another one
 * of its server, whose NIC is on the receiver's rail (PXN): the relay receives the whole message,
 * and sends it on. Its operations begin with its iteration, and wait for none of the relay's own.
 *
 * Such a message has the tag JOB_RELAY_TAG + n, where n is unique for its sender, receiver and tag.
 */
#ifndef QUENCH_JOB_JOB_RELAY_H
#define QUENCH_JOB_JOB_RELAY_H

#include "job/job_graph.h"

#define JOB_RELAY_TAG (1u << 30)

/** The rank through which one sends to another; JOB_NONE: none. It is neither of them. */
typedef uint32_t (*job_relay_fn)(const void *arg, uint32_t from, uint32_t to);

/**
 * Let messages go through relays. The graph ends (job_check()).
 * @param graph  On success, replaced if there is a relay; then it has one user.
 * @return       0; -EINVAL with fault filled in: a tag is JOB_RELAY_TAG or above, or those of one
 *               tag are not sent in the order of their operations; -E2BIG (JOB_SIZE_TEXT) or
 *               -ENOMEM.
 */
int job_relay(struct job_graph *graph, job_relay_fn relay, const void *arg,
	      struct job_fault *fault);

#endif
