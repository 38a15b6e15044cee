/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of RoCEv2 frames between two hosts: for tests and benchmarks. */
#ifndef QUENCH_TEST_HOST_PATH_H
#define QUENCH_TEST_HOST_PATH_H

#include "wire/frame/ecn.h"
#include "wire/roce/roce.h"

/** ECT(0) data over IPv4. Host n has 10.0.0.n and 02:00:00:00:00:n. */
static inline struct roce_path
host_path(uint8_t from, uint8_t to, uint32_t dest_qp)
{
	return (struct roce_path){
		.src_mac = {2, 0, 0, 0, 0, from},
		.dst_mac = {2, 0, 0, 0, 0, to},
		.src_ip = {10, 0, 0, from},
		.dst_ip = {10, 0, 0, to},
		.ip_version = 4,
		.dscp = 26,
		.ecn = ECN_ECT0,
		.ttl = 64,
		.udp_sport = 0xC242,
		.dest_qp = dest_qp,
		.pkey = PKEY_DEFAULT,
	};
}

#endif
