/* SPDX-License-Identifier: BSD-3-Clause */
/* A net whose nodes are divided among ranks: who owns a node, and its state for rank 0. */
#include <errno.h>
#include <string.h>

#include "fabric/net/net_state.h"
#include "fabric/tester/tester.h"
#include "nic/observe/nic_pieces.h"
#include "switch/control/sw_pieces.h"

int
net_divide(struct net *net)
{
	struct fabric_carrier carrier = net_carrier;

	carrier.arg = net;
	return net->ranks == NULL ? 0 : fabric_set_ranks(net->fabric, net->ranks, &carrier);
}

struct ranks *
net_ranks(const struct net *net)
{
	return net->ranks;
}

bool
net_owns(const struct net *net, uint32_t node)
{
	const struct topology_end at = {.node = node};

	return net->ranks == NULL || fabric_owns(net->fabric, end_at(net->scenario, at).node);
}

bool
net_has_all(const struct net *net)
{
	return net->ranks == NULL || net->ranks->self == 0;
}

bool
net_has(const struct net *net, uint32_t node)
{
	return net_has_all(net) || net_owns(net, node);
}

/*
 * A piece as runs of words: {n zero words, n other words, these}, until all words are there; then
 * the bytes after the last whole word. Most of a histogram, or of a counter table, is zero.
 */
struct run {
	uint32_t zeros, others;
};

struct writer {
	struct node_pieces pieces;
	struct rank_bytes *to;
};

static uint64_t
word_at(const uint8_t *at, size_t i)
{
	uint64_t word;

	memcpy(&word, at + 8 * i, sizeof(word));
	return word;
}

static void
write_piece(struct node_pieces *pieces, void *piece, size_t n)
{
	struct rank_bytes *to = ((struct writer *)pieces)->to;
	const uint8_t *at = piece;
	size_t words = n / 8, i = 0;

	while (i < words) {
		size_t from = i, others;
		struct run run;

		while (i < words && word_at(at, i) == 0)
			i++;
		others = i;
		while (i < words && word_at(at, i) != 0)
			i++;
		run = (struct run){(uint32_t)(others - from), (uint32_t)(i - others)};
		rank_bytes_add(to, &run, sizeof(run));
		rank_bytes_add(to, at + 8 * others, 8 * (i - others));
	}
	rank_bytes_add(to, at + 8 * words, n % 8);
}

struct reader {
	struct node_pieces pieces;
	struct rank_reader *from;
};

/* Pages that were never written stay so. */
static void
clear_words(uint8_t *at, size_t n)
{
	static const uint64_t zero;

	for (size_t i = 0; i < n; i++)
		if (word_at(at, i) != 0)
			memcpy(at + 8 * i, &zero, sizeof(zero));
}

static void
read_piece(struct node_pieces *pieces, void *piece, size_t n)
{
	struct rank_reader *from = ((struct reader *)pieces)->from;
	uint8_t *at = piece;
	size_t words = n / 8, i = 0;

	while (i < words && !from->bad) {
		struct run run;

		rank_reader_copy(from, &run, sizeof(run));
		if (run.zeros > words - i || run.others > words - i - run.zeros ||
		    run.zeros + run.others == 0) {
			from->bad = true;
			return;
		}
		clear_words(at + 8 * i, run.zeros);
		i += run.zeros;
		rank_reader_copy(from, at + 8 * i, 8ul * run.others);
		i += run.others;
	}
	if (!from->bad)
		rank_reader_copy(from, at + 8 * words, n % 8);
}

uint32_t
net_rank_of(const struct net *net, uint32_t node)
{
	const struct topology_end at = {.node = node};

	return fabric_rank_of(net->fabric, end_at(net->scenario, at).node);
}

static void
list_pieces(const struct net *net, uint32_t rank, struct node_pieces *to)
{
	const struct topology *t = net->scenario->topology;

	for (uint32_t i = 0; i < t->n_switches; i++)
		if (net_rank_of(net, i) == rank)
			sw_pieces(net->switches[i], to);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (net_rank_of(net, t->n_switches + h) == rank) {
			nic_pieces(net->hosts[h], to);
			if (net->testers[h] != NULL)
				tester_pieces(net->testers[h], to);
		}
	for (uint32_t i = 0; net->servers != NULL && i < scenario_n_servers(net->scenario); i++) {
		uint32_t host = i * net->scenario->fabric.nics_per_server;

		if (net_rank_of(net, t->n_switches + host) == rank)
			server_pieces(net->servers[i], to);
	}
}

int
net_gather(struct net *net, bool all)
{
	struct ranks *ranks = net->ranks;
	int rc = 0;

	if (ranks == NULL)
		return 0;
	ranks_begin(ranks);
	if (ranks->self != 0) {
		struct writer w = {.pieces = {.piece = write_piece, .all = all},
				   .to = &ranks->out[0]};

		list_pieces(net, ranks->self, &w.pieces);
	}
	rc = ranks_to_first(ranks);
	if (rc < 0)
		return rc;
	for (uint32_t q = 1; ranks->self == 0 && q < ranks->n; q++) {
		struct rank_reader from = rank_reader_of(&ranks->in[q]);
		struct reader r = {.pieces = {.piece = read_piece, .all = all}, .from = &from};

		list_pieces(net, q, &r.pieces);
		if (from.bad || from.at != from.end)
			rc = -EIO;
	}
	if (rc < 0)
		return rc;
	return fabric_gather(net->fabric);
}
