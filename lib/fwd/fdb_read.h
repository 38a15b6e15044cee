/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of a forwarding database, read one by one for people. */
#ifndef QUENCH_FWD_FDB_READ_H
#define QUENCH_FWD_FDB_READ_H

#include "fwd/fdb.h"

struct fdb_entry {
	uint8_t mac[6];
	uint16_t domain, port;
	bool is_static;
	uint64_t age_ns; /* since it was heard, up to 1/256 of the ageing time more; static: 0 */
};

/* Where fdb_read() has seen all. */
#define FDB_READ_END UINT32_MAX

/**
 * Read addresses that are known, in the order of their places, a bounded step at a time. It may run
 * beside a writer: an address that comes or goes meanwhile is read or not.
 *
 * @param at   0, then what the last call left: the place to go on from, or FDB_READ_END.
 * @param out  Room for n.
 * @return     How many were found; 0 does not mean that there are no more.
 */
uint32_t fdb_read(const struct fdb *fdb, uint32_t *at, struct fdb_entry out[], uint32_t n,
		  uint64_t now_ns);

#endif
