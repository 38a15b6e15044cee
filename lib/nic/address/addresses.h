/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses at which the NIC is reached: its own, and those of flows with local_mac or
 * local_ip. Only the node's owner uses them.
 *
 * Invariant: an address of a flow is there while one of its QPs is.
 */
#ifndef QUENCH_NIC_ADDRESS_ADDRESSES_H
#define QUENCH_NIC_ADDRESS_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/core/core.h"

/* Of the NIC's own addresses: they are reached on each VLAN. */
#define NIC_ANY_VLAN 0xFFFFu

struct nic_address {
	uint8_t mac[6];
	uint16_t vlan_id; /* 0: untagged */
	struct field_ip ip;
	uint32_t users; /* flows; of the NIC's own addresses one more */
};

struct nic_addresses {
	uint32_t n, capacity;
	uint32_t n_own; /* those of the NIC, at the beginning */
	struct nic_address *all;
};

/** @return 0 or -ENOMEM; nic_addresses_free() in both cases. */
int nic_addresses_init(struct nic *nic);
void nic_addresses_free(struct nic *nic);
/** Make room for those of n flows, so that nic_address_use() cannot fail. @return 0 or -ENOMEM. */
int nic_addresses_reserve(struct nic *nic, uint32_t n);

/** The source of these packets. @return 0 or -ENOMEM. */
int nic_address_use(struct nic *nic, const struct roce_path *path);
void nic_address_release(struct nic *nic, const struct roce_path *path);

/**
 * Flows on different VLANs may have one IP address and different MAC addresses.
 * @param ip       4 or 16 bytes.
 * @param vlan_id  0: untagged.
 * @return the first with this IP address on this VLAN, or NULL.
 */
const struct nic_address *nic_address_find(const struct nic *nic, uint8_t version,
					   const uint8_t *ip, uint16_t vlan_id);
/** Is a frame to these addresses, on any VLAN, for us? */
bool nic_address_is_ours(const struct nic *nic, const uint8_t mac[6], uint8_t version,
			 const uint8_t *ip);
bool nic_mac_is_ours(const struct nic *nic, const uint8_t mac[6]);

/** Are there addresses of flows? Then a frame to us may be to the address of another QP. */
static inline bool
nic_addresses_differ(const struct nic *nic)
{
	return nic->addresses->n > nic->addresses->n_own;
}

#endif
