/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding database of a bridge: (VLAN, MAC) -> port, learned from source addresses.
 * IEEE 802.1Q 8.7 (learning), 8.8 (filtering database): an address that moves is found on its new
 * port at once; one that is not heard of again is forgotten.
 *
 * Ageing counts from the last frame seen, rounded up to 1/256 of the ageing time, because an entry
 * is not written for every frame: an address is known for at least ageing_ns and at most ageing_ns
 * * 257 / 256. An aged entry answers like an absent one; fdb_sweep() gives its place back, a
 * bounded step at a time. A full table learns nothing more: such frames flood, which is counted.
 *
 * rte_hash keeps the addresses. A direct-mapped table of entry numbers stands in front of it: a
 * look-up of a random one of 64 (65536) addresses takes 7 ns (16 ns), the hash alone 22 ns (28 ns),
 * in one run on a 2.6 GHz Xeon with the table full.
 *
 * One owner: no call may run beside another.
 */
#ifndef QUENCH_FWD_FDB_H
#define QUENCH_FWD_FDB_H

#include <stdbool.h>
#include <stdint.h>

#define FDB_UNKNOWN UINT16_MAX
#define FDB_MIN_ENTRIES 8u /* a bucket of rte_hash */
#define FDB_MAX_ENTRIES (1u << 20)

struct fdb_params {
	uint32_t entries;   /* addresses: FDB_MIN_ENTRIES..FDB_MAX_ENTRIES */
	uint64_t ageing_ns; /* 0: never forgotten */
	int socket;         /* NUMA node, or SOCKET_ID_ANY */
};

struct fdb_stats {
	uint64_t learned;        /* new addresses, relearned after ageing included */
	uint64_t moved;          /* known addresses heard on another port */
	uint64_t aged;           /* entries given back by fdb_sweep() */
	uint64_t learn_failures; /* frames whose source found the table full */
};

struct fdb;

/** @return the table, owned by the caller, or NULL with rte_errno set. params are copied. */
struct fdb *fdb_create(const struct fdb_params *params);
void fdb_destroy(struct fdb *fdb);

/** Key of an address in a VLAN (0: untagged). mac is in wire order. */
static inline uint64_t
fdb_key(uint16_t vid, const uint8_t mac[6])
{
	return (uint64_t)(vid & 0xFFFu) << 48 | (uint64_t)mac[0] << 40 | (uint64_t)mac[1] << 32 |
	       (uint64_t)mac[2] << 24 | (uint64_t)mac[3] << 16 | (uint64_t)mac[4] << 8 | mac[5];
}

/** Group address (multicast and broadcast): the first bit on the wire. */
static inline bool
fdb_key_is_group(uint64_t key)
{
	return key >> 40 & 1;
}

/**
 * A frame with this source came in on port: enter, move or refresh the address. Group addresses are
 * ignored.
 *
 * @param port  Anything but FDB_UNKNOWN.
 * @return      Whether the table holds the address on this port now.
 */
bool fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns);

/** @return the port behind which the address was last heard, or FDB_UNKNOWN. */
uint16_t fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns);

/**
 * Give back aged entries among the next few hundred places.
 *
 * @return  When to call again so that the table is gone through four times per ageing time;
 * NEVER_NS when nothing ages.
 */
uint64_t fdb_sweep(struct fdb *fdb, uint64_t now_ns);

/** Pause between two steps of fdb_sweep(); NEVER_NS when nothing ages. */
uint64_t fdb_sweep_interval_ns(const struct fdb *fdb);

/** Entries in use; aged ones that were not swept yet are among them. */
uint32_t fdb_entries(const struct fdb *fdb);
const struct fdb_stats *fdb_stats(const struct fdb *fdb);

#endif
