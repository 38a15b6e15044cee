/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive side scaling of a device: requested with a known key over addresses and UDP ports, and
 * used only as far as the device confirms it. A port without confirmed RSS works too, but its
 * frames cross between lcores.
 */
#ifndef QUENCH_APP_RUNTIME_PORT_PORT_RSS_H
#define QUENCH_APP_RUNTIME_PORT_PORT_RSS_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ethdev.h>

#include "nic/port/rss.h"

struct port_rss {
	bool asked;         /* requested: the device hashes UDP */
	bool known;         /* the device also reported its key and buckets */
	uint8_t key[64];    /* as requested, then as the device reports */
	uint8_t key_bytes;  /* that the device expects; 0: not reported, or not 40 to 64 */
	uint64_t types;     /* hashed, RTE_ETH_RSS_NONFRAG_IPV4_UDP and IPV6_UDP */
	uint32_t n_buckets; /* a power of two */
};

/** Request RSS in conf if the device offers it for UDP. */
void port_rss_ask(struct port_rss *rss, const struct rte_eth_dev_info *info,
		  struct rte_eth_conf *conf);

/** Read the RSS of a configured device back. Sets rss->known if its hashes can be predicted. */
void port_rss_learn(struct port_rss *rss, uint16_t ethdev);

/** Does the device hash the frames of an IP version, 4 or 6? */
bool port_rss_hashes(const struct port_rss *rss, uint8_t ip_version);

/** Give each bucket a receive queue. @return 0 or -errno: the device keeps its own table. */
int port_rss_set_queues(const struct port_rss *rss, uint16_t ethdev, const uint16_t *queue);

#endif
