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
 * A static entry neither ages nor moves. A port may be given a limit of learned addresses: beyond
 * it its new addresses are not learned, nor do known ones move to it, so that a flood of made-up
 * sources evicts nobody; their frames still go on, and are counted.
 *
 * Buckets of a cache line hold four addresses each, so that one line is read for an address, and a
 * burst's lines can be asked for ahead (fdb_prefetch()). rte_hash reads two, and our entries behind
 * it.
 *
 * One owner: no call may run beside another. Or shared: learning, lookups and sweeps of several
 * lcores run beside each other, and none waits. Who wants to write while another does leaves it: an
 * address is then learned from its next frame (learn_busy). A lookup beside a writer may find
 * nothing, and the frame floods; it never finds another address's port. Memory is neither given
 * back nor moved, so that nobody has to know who still reads (no RCU).
 */
#ifndef QUENCH_FWD_FDB_H
#define QUENCH_FWD_FDB_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FDB_UNKNOWN UINT16_MAX
#define FDB_MIN_ENTRIES 8u
#define FDB_MAX_ENTRIES (1u << 20)
#define FDB_MAX_PORTS 256u
#define FDB_MAX_DOMAINS (1u << 15) /* VLAN identifiers, and numbers beyond them for owners' use */

struct fdb_params {
	uint32_t entries;   /* addresses: FDB_MIN_ENTRIES..FDB_MAX_ENTRIES */
	uint64_t ageing_ns; /* 0: never forgotten; less than 2^54 */
	int socket;         /* NUMA node, or SOCKET_ID_ANY */
	bool shared;        /* by several lcores, after set-up */
};

struct fdb_stats {
	uint64_t learned;        /* new addresses, relearned after ageing included */
	uint64_t moved;          /* known addresses heard on another port */
	uint64_t aged;           /* entries given back by fdb_sweep() */
	uint64_t learn_failures; /* frames whose source found no place in the table */
	uint64_t learn_limited;  /* frames whose source was beyond its port's limit */
	uint64_t static_kept;    /* frames from a static address on another port */
	uint64_t learn_busy;     /* shared: frames not learned from, as another lcore wrote */
};

struct fdb;

/** @return the table, owned by the caller, or NULL with rte_errno set. params are copied. */
struct fdb *fdb_create(const struct fdb_params *params);
void fdb_destroy(struct fdb *fdb);

/**
 * Key of an address in a bridging domain: a VLAN (0: untagged), or any number below
 * FDB_MAX_DOMAINS. mac is in wire order.
 */
static inline uint64_t
fdb_key(uint16_t domain, const uint8_t mac[6])
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, mac, sizeof(high));
	memcpy(&low, mac + 4, sizeof(low));
	return (uint64_t)(domain & (FDB_MAX_DOMAINS - 1)) << 48 | (uint64_t)be32toh(high) << 16 |
	       be16toh(low);
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
 * @param port  Below FDB_MAX_PORTS.
 * @return      Whether the table holds the address on this port now.
 */
bool fdb_learn(struct fdb *fdb, uint64_t key, uint16_t port, uint64_t now_ns);

/** Enter an address for good, over one that was learned. @return 0, -EINVAL (group), -ENOSPC. */
int fdb_add_static(struct fdb *fdb, uint64_t key, uint16_t port);

/** Most addresses that are learned on a port from now on; 0: no limit. */
void fdb_set_limit(struct fdb *fdb, uint16_t port, uint32_t addresses);

/** @return the port behind which the address was last heard, or FDB_UNKNOWN. */
uint16_t fdb_lookup(struct fdb *fdb, uint64_t key, uint64_t now_ns);

/**
 * For bursts: say where n keys belong, and bring those places into the cache. fdb_learn_at() and
 * fdb_lookup_at() are then fdb_learn() and fdb_lookup() of a key with its home.
 */
void fdb_prefetch(const struct fdb *fdb, const uint64_t keys[], uint32_t homes[], unsigned int n);
bool fdb_learn_at(struct fdb *fdb, uint64_t key, uint32_t home, uint16_t port, uint64_t now_ns);
uint16_t fdb_lookup_at(struct fdb *fdb, uint64_t key, uint32_t home, uint64_t now_ns);

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
/** Of these, the ones that were learned on port. */
uint32_t fdb_port_entries(const struct fdb *fdb, uint16_t port);
const struct fdb_stats *fdb_stats(const struct fdb *fdb);

#endif
