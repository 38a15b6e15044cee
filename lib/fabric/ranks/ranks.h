/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes ("ranks") that run one fabric together, each with its own memory, perhaps on several
 * machines. They do the same things in the same order, each for its own nodes, and meet in
 * exchanges: each rank passes bytes to every other one.
 *
 * The struct is implemented by a plug-in (app/quench-lab/mpi), so that only runs of several ranks
 * load a library for messages. All ranks run the same program on machines of one kind: structs
 * cross as they are in memory.
 */
#ifndef QUENCH_FABRIC_RANKS_RANKS_H
#define QUENCH_FABRIC_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS_MOST 64u

/* Bytes that grow. Zero-initialised: empty. */
struct rank_bytes {
	uint8_t *at;
	size_t n, room;
	bool no_memory; /* some were lost; n stays as it was */
};

/* Since the start. */
struct ranks_counts {
	uint64_t exchanges, messages, bytes; /* messages and bytes: sent by this rank */
};

struct ranks {
	uint32_t self, n; /* n: at least 2, at most RANKS_MOST */
	/*
	 * Send out[q] to each other rank q, and replace in[q] by what it sent. All ranks call it
	 * equally often, each from one thread at a time.
	 * @return 0, -ENOMEM or -EIO: the run cannot go on.
	 */
	int (*exchange)(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in);
	struct ranks_counts counts;
	struct rank_bytes out[RANKS_MOST], in[RANKS_MOST]; /* of the functions below */
	int error; /* of the exchange that failed: there is none after it; 0: none has */
};

/** Free the buffers. */
void ranks_free(struct ranks *ranks);

/** Room for n more bytes at the end, to be written by the caller; NULL: no memory. */
void *rank_bytes_more(struct rank_bytes *b, size_t n);
void rank_bytes_add(struct rank_bytes *b, const void *from, size_t n);
void rank_bytes_free(struct rank_bytes *b);

/* Reads bytes that another rank has written. */
struct rank_reader {
	const uint8_t *at, *end;
	bool bad; /* there were fewer than expected */
};

struct rank_reader rank_reader_of(const struct rank_bytes *b);
/** The next n bytes, which are not aligned; NULL: there are fewer. */
const void *rank_reader_take(struct rank_reader *r, size_t n);
/** Copy the next n bytes; zeros if there are fewer. */
void rank_reader_copy(struct rank_reader *r, void *to, size_t n);

/**
 * The exchange of the struct. After one that failed, ranks would take bytes of one exchange for
 * those of another, so all further ones fail at once. in[] is empty then.
 */
int ranks_exchange(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in);

/** Empty out[] before an exchange of another kind. */
void ranks_begin(struct ranks *ranks);
/**
 * Pass out[0] of all other ranks to rank 0, in in[]. Of a rank that had no memory for them, none
 * arrives. @return as exchange().
 */
int ranks_to_first(struct ranks *ranks);
/** Pass these bytes to all other ranks, whose own are in in[]. @return as exchange(). */
int ranks_to_all(struct ranks *ranks, const void *from, size_t n);
/** The same of what this rank has collected: -ENOMEM if it had no memory for all of it. */
int ranks_share(struct ranks *ranks, const struct rank_bytes *own);

/** The least of a value of all ranks; 0 if they cannot exchange any more, as error says. */
uint64_t ranks_min(struct ranks *ranks, uint64_t value);
/** Their sum; UINT64_MAX if they cannot exchange any more. */
uint64_t ranks_sum(struct ranks *ranks, uint64_t value);

#endif
