/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterator over the addresses of a forwarding database, for reports. */
#ifndef QUENCH_FWD_FDB_READ_H
#define QUENCH_FWD_FDB_READ_H

#include "fwd/fdb.h"

struct fdb_entry {
	uint8_t mac[6];
	uint16_t domain, port;
	bool is_static;
	/* time since the last frame; may be too high by 1/256 of the ageing time; static: 0 */
	uint64_t age_ns;
};

/* Value of *at after the last address. */
#define FDB_READ_END UINT32_MAX

/**
 * Read known addresses in slot order, in bounded steps. It may run concurrently with a writer: an
 * address that is added or removed meanwhile may or may not be read.
 *
 * @param at   0 at first, then unchanged from the last call; FDB_READ_END at the end.
 * @param out  Room for n.
 * @return     Number of addresses read; 0 does not mean the end.
 */
uint32_t fdb_read(const struct fdb *fdb, uint32_t *at, struct fdb_entry out[], uint32_t n,
		  uint64_t now_ns);

#endif
