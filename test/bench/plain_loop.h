/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs a program that does nothing but the least for it, as the forwarding modes of
 * dpdk-testpmd do: a limit for every pipeline. Nothing of a device is in it.
 */
#ifndef QUENCH_TEST_BENCH_PLAIN_LOOP_H
#define QUENCH_TEST_BENCH_PLAIN_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

/** A generator: mbufs, one by one, with Ethernet, IPv4 and UDP headers, each to another address. */
void plain_generate(struct rte_mempool *pool, struct rte_mbuf **pkts, unsigned int n,
		    uint16_t frame_bytes);

/**
 * A receiver: looks whether each frame is RoCEv2 to us, takes the CRC of the whole frame with
 * rte_net_crc if asked, and frees it.
 * @return a value that depends on all of the work.
 */
uint32_t plain_receive(struct rte_mbuf **pkts, unsigned int n, bool crc);

/**
 * A forwarder: swaps the MAC addresses of the frames, frees the burst as the sending driver does
 * and takes another as the receiving one does.
 */
void plain_macswap(struct rte_mempool *pool, struct rte_mbuf **pkts, uint16_t n);

#endif
