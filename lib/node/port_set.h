/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of a node's ports: bit port % 64 of word port / 64. */
#ifndef QUENCH_NODE_PORT_SET_H
#define QUENCH_NODE_PORT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

#define PORT_SET_WORDS (NODE_MAX_PORTS / 64)
#define PORT_NONE UINT16_MAX

struct port_set {
	uint64_t word[PORT_SET_WORDS];
};

/** Words that hold n_ports ports. */
static inline uint16_t
port_words(uint16_t n_ports)
{
	return (uint16_t)((n_ports + 63) / 64);
}

static inline bool
port_words_have(const uint64_t *words, uint16_t port)
{
	return words[port / 64] >> (port % 64) & 1;
}

static inline bool
port_set_has(const struct port_set *s, uint16_t port)
{
	return port_words_have(s->word, port);
}

static inline void
port_set_add(struct port_set *s, uint16_t port)
{
	s->word[port / 64] |= 1ull << (port % 64);
}

static inline void
port_set_remove(struct port_set *s, uint16_t port)
{
	s->word[port / 64] &= ~(1ull << (port % 64));
}

static inline uint16_t
port_set_count(const struct port_set *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PORT_SET_WORDS; i++)
		n += (unsigned int)__builtin_popcountll(s->word[i]);
	return (uint16_t)n;
}

/** The lowest port of the set from `from` on, or PORT_NONE. */
static inline uint16_t
port_set_next(const struct port_set *s, uint16_t from)
{
	for (unsigned int i = from / 64; i < PORT_SET_WORDS; i++) {
		uint64_t left = s->word[i];

		if (i == from / 64)
			left &= UINT64_MAX << (from % 64);
		if (left != 0)
			return (uint16_t)(i * 64 + (unsigned int)__builtin_ctzll(left));
	}
	return PORT_NONE;
}

static inline bool
port_set_is_empty(const struct port_set *s)
{
	return port_set_next(s, 0) == PORT_NONE;
}

static inline bool
port_set_equal(const struct port_set *a, const struct port_set *b)
{
	uint64_t differ = 0;

	for (unsigned int i = 0; i < PORT_SET_WORDS; i++)
		differ |= a->word[i] ^ b->word[i];
	return differ == 0;
}

#endif
