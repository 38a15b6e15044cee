/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in of quench-lab that uses MPI: bytes from each rank to each other one.
 *
 * Between two ranks, an exchange is one message of up to FIRST_BYTES, which begins with the length
 * of all, and a second one with the rest. Most windows need the first alone.
 */
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quench-lab/ranks/lab_ranks.h"

#define FIRST_BYTES 4096u
#define TAG_FIRST 1
#define TAG_REST 2
/*
 * Polls before the core goes to others, since those that are waited for may need it. A core with
 * many processes returns too early from a yield, but not from a sleep.
 */
#define POLLS 200u
#define POLLS_AWAKE 2000u
#define SLEEP_NS 20000

/* What comes first. */
struct first {
	uint64_t bytes; /* of all */
	uint8_t data[FIRST_BYTES - sizeof(uint64_t)];
};

struct mpi_ranks {
	struct ranks ranks;
	void *(*more)(struct rank_bytes *b, size_t n);
	struct first out[RANKS_MOST], in[RANKS_MOST];
	MPI_Request requests[4 * RANKS_MOST];
	/* Not read. What MPICH has for "none" gcc takes for an array without room. */
	MPI_Status statuses[4 * RANKS_MOST];
	int n_requests;
};

static void
wait_all(struct mpi_ranks *m)
{
	const struct timespec sleep = {.tv_nsec = SLEEP_NS};
	int done = 0;

	for (uint64_t i = 1; !done; i++) {
		MPI_Testall(m->n_requests, m->requests, &done, m->statuses);
		if (done)
			break;
		if (i > POLLS_AWAKE)
			nanosleep(&sleep, NULL);
		else if (i % POLLS == 0)
			sched_yield();
	}
	m->n_requests = 0;
}

static MPI_Request *
request(struct mpi_ranks *m)
{
	return &m->requests[m->n_requests++];
}

/* MPI counts in int. */
static int
part_of(size_t n, size_t from)
{
	const size_t most = 1u << 30;

	return (int)(n - from < most ? n - from : most);
}

static void
send(struct mpi_ranks *m, uint32_t q, const struct rank_bytes *out)
{
	struct first *first = &m->out[q];
	size_t n = out->n < sizeof(first->data) ? out->n : sizeof(first->data);

	first->bytes = out->n;
	if (n > 0)
		memcpy(first->data, out->at, n);
	MPI_Isend(first, (int)(sizeof(first->bytes) + n), MPI_BYTE, (int)q, TAG_FIRST,
		  MPI_COMM_WORLD, request(m));
	m->ranks.counts.messages++;
	m->ranks.counts.bytes += out->n;
}

/* The rest of what goes to q, or comes from there, in pieces that fit an int. */
static void
exchange_rest(struct mpi_ranks *m, uint32_t q, const struct rank_bytes *out, struct rank_bytes *in)
{
	size_t sent = sizeof(m->out[q].data), got = sizeof(m->in[q].data);

	while (sent < out->n || got < in->n) {
		if (sent < out->n) {
			int n = part_of(out->n, sent);

			MPI_Isend(out->at + sent, n, MPI_BYTE, (int)q, TAG_REST, MPI_COMM_WORLD,
				  request(m));
			m->ranks.counts.messages++;
			sent += (size_t)n;
		}
		if (got < in->n) {
			int n = part_of(in->n, got);

			MPI_Irecv(in->at + got, n, MPI_BYTE, (int)q, TAG_REST, MPI_COMM_WORLD,
				  request(m));
			got += (size_t)n;
		}
		/* More than 1 GB: one piece after another. */
		if (sent < out->n || got < in->n)
			wait_all(m);
	}
}

static int
exchange(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in)
{
	struct mpi_ranks *m = (struct mpi_ranks *)ranks;
	bool ok = true;

	ranks->counts.exchanges++;
	for (uint32_t q = 0; q < ranks->n; q++)
		if (q != ranks->self)
			MPI_Irecv(&m->in[q], sizeof(m->in[q]), MPI_BYTE, (int)q, TAG_FIRST,
				  MPI_COMM_WORLD, request(m));
	for (uint32_t q = 0; q < ranks->n; q++)
		if (q != ranks->self)
			send(m, q, &out[q]);
	wait_all(m);
	for (uint32_t q = 0; q < ranks->n; q++) {
		size_t n = m->in[q].bytes;

		in[q].n = 0;
		if (q == ranks->self || n == 0)
			continue;
		if (m->more(&in[q], n) == NULL)
			ok = false;
		else
			memcpy(in[q].at, m->in[q].data,
			       n < sizeof(m->in[q].data) ? n : sizeof(m->in[q].data));
	}
	if (!ok)
		return -ENOMEM;
	for (uint32_t q = 0; q < ranks->n; q++)
		if (q != ranks->self)
			exchange_rest(m, q, &out[q], &in[q]);
	wait_all(m);
	return 0;
}

__attribute__((visibility("default"))) struct ranks *
quench_lab_mpi_open(const struct lab_plugin_needs *needs, char *why, size_t why_size);
__attribute__((visibility("default"))) void quench_lab_mpi_close(struct ranks *ranks, bool failed);

struct ranks *
quench_lab_mpi_open(const struct lab_plugin_needs *needs, char *why, size_t why_size)
{
	struct mpi_ranks *m;
	int self, n, got;

	if (needs->ranks_bytes != sizeof(struct ranks)) {
		snprintf(why, why_size, "of another build than quench-lab");
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	if (m == NULL) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	/* The thread that ends a window last calls MPI. */
	MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n < 2)
		snprintf(why, why_size,
			 "its MPI library sees one process: expected the mpirun of that library");
	else if (got < MPI_THREAD_SERIALIZED || n > (int)RANKS_MOST)
		snprintf(why, why_size, "expected 2 to %u processes, and threads in turn",
			 RANKS_MOST);
	if (got < MPI_THREAD_SERIALIZED || n > (int)RANKS_MOST || n < 2) {
		MPI_Finalize();
		free(m);
		return NULL;
	}
	m->more = needs->more;
	m->ranks = (struct ranks){.self = (uint32_t)self, .n = (uint32_t)n, .exchange = exchange};
	return &m->ranks;
}

void
quench_lab_mpi_close(struct ranks *ranks, bool failed)
{
	if (failed)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Finalize();
	free(ranks);
}
