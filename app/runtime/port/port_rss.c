/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/port/port_rss.h"

#include <string.h>

static const uint8_t no_key[NIC_RSS_KEY_BYTES];

#define UDP_TYPES (RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)

void
port_rss_ask(struct port_rss *rss, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	struct rte_eth_rss_conf *c = &conf->rx_adv_conf.rss_conf;

	*rss = (struct port_rss){
		.types = info->flow_type_rss_offloads & UDP_TYPES,
		.n_buckets = info->reta_size,
	};
	if (rss->types == 0)
		return;
	rss->asked = true;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	c->rss_hf = rss->types;
	/* A key of NIC_RSS_KEY_BYTES covers IPv6; a shorter one does not. */
	if (info->hash_key_size < NIC_RSS_KEY_BYTES || info->hash_key_size > sizeof(rss->key))
		return;
	rss->key_bytes = info->hash_key_size;
	for (unsigned int i = 0; i < rss->key_bytes; i++)
		rss->key[i] = nic_rss_key[i % NIC_RSS_KEY_BYTES];
	c->rss_key = rss->key;
	c->rss_key_len = rss->key_bytes;
}

void
port_rss_learn(struct port_rss *rss, uint16_t ethdev)
{
	uint8_t key[sizeof(rss->key)] = {0};
	struct rte_eth_rss_conf conf = {
		.rss_key = key,
		/* Drivers that report no key size use the size of the published method. */
		.rss_key_len = rss->key_bytes != 0 ? rss->key_bytes : NIC_RSS_KEY_BYTES,
	};

	if (!rss->asked || rss->n_buckets == 0 || rss->n_buckets > NIC_RSS_MAX_BUCKETS ||
	    (rss->n_buckets & (rss->n_buckets - 1)) != 0 ||
	    rte_eth_dev_rss_hash_conf_get(ethdev, &conf) != 0)
		return;
	/* A driver may use its own key instead of ours: use the key that it reports. */
	if (memcmp(key, no_key, NIC_RSS_KEY_BYTES) == 0)
		return;
	memcpy(rss->key, key, sizeof(key));
	rss->types = conf.rss_hf & UDP_TYPES;
	rss->known = rss->types != 0;
}

bool
port_rss_hashes(const struct port_rss *rss, uint8_t ip_version)
{
	return rss->types &
	       (ip_version == 4 ? RTE_ETH_RSS_NONFRAG_IPV4_UDP : RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

int
port_rss_set_queues(const struct port_rss *rss, uint16_t ethdev, const uint16_t *queue)
{
	struct rte_eth_rss_reta_entry64 table[NIC_RSS_MAX_BUCKETS / RTE_ETH_RETA_GROUP_SIZE] = {0};

	for (uint32_t i = 0; i < rss->n_buckets; i++) {
		struct rte_eth_rss_reta_entry64 *group = &table[i / RTE_ETH_RETA_GROUP_SIZE];

		group->mask |= 1ull << i % RTE_ETH_RETA_GROUP_SIZE;
		group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = queue[i];
	}
	return rte_eth_dev_rss_reta_update(ethdev, table, (uint16_t)rss->n_buckets);
}
