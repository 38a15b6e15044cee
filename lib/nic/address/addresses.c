/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/address/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
has_ip(const struct nic_address *a, uint8_t version, const uint8_t *ip)
{
	return a->ip.version == version && memcmp(a->ip.addr, ip, version == 4 ? 4 : 16) == 0;
}

static bool
is(const struct nic_address *a, const uint8_t mac[6], uint8_t version, const uint8_t *ip)
{
	return has_ip(a, version, ip) && memcmp(a->mac, mac, 6) == 0;
}

static bool
is_on(const struct nic_address *a, uint16_t vlan_id)
{
	return a->vlan_id == NIC_ANY_VLAN || a->vlan_id == vlan_id;
}

static uint16_t
vlan_of(const struct roce_path *path)
{
	return path->tagged ? path->vlan_tci & 0x0FFF : 0;
}

/* The address that is the source of these packets, or NULL. */
static struct nic_address *
source_of(const struct nic *nic, const struct roce_path *path)
{
	for (uint32_t i = 0; i < nic->addresses->n; i++) {
		struct nic_address *a = &nic->addresses->all[i];

		if (is(a, path->src_mac, path->ip_version, path->src_ip) && is_on(a, vlan_of(path)))
			return a;
	}
	return NULL;
}

int
nic_addresses_reserve(struct nic *nic, uint32_t n)
{
	struct nic_addresses *a = nic->addresses;
	struct nic_address *all;

	if (a->n + n <= a->capacity)
		return 0;
	all = realloc(a->all, (a->n + n) * sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	a->all = all;
	a->capacity = a->n + n;
	return 0;
}

static int
add(struct nic *nic, const uint8_t mac[6], uint8_t version, const uint8_t *ip, uint16_t vlan_id)
{
	struct nic_address one = {.ip.version = version, .vlan_id = vlan_id, .users = 1};

	if (nic_addresses_reserve(nic, 1) != 0)
		return -ENOMEM;
	memcpy(one.mac, mac, sizeof(one.mac));
	memcpy(one.ip.addr, ip, version == 4 ? 4 : 16);
	nic->addresses->all[nic->addresses->n++] = one;
	return 0;
}

int
nic_addresses_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	int rc = p->ip.version == 4 ? add(nic, p->mac, 4, p->ip.addr, NIC_ANY_VLAN) : 0;

	if (rc == 0 && p->ip6.version == 6)
		rc = add(nic, p->mac, 6, p->ip6.addr, NIC_ANY_VLAN);
	nic->addresses->n_own = nic->addresses->n;
	return rc;
}

void
nic_addresses_free(struct nic *nic)
{
	free(nic->addresses->all);
}

int
nic_address_use(struct nic *nic, const struct roce_path *path)
{
	struct nic_address *a = source_of(nic, path);

	if (a == NULL)
		return add(nic, path->src_mac, path->ip_version, path->src_ip, vlan_of(path));
	a->users++;
	return 0;
}

void
nic_address_release(struct nic *nic, const struct roce_path *path)
{
	struct nic_addresses *all = nic->addresses;
	struct nic_address *a = source_of(nic, path);

	if (--a->users == 0)
		*a = all->all[--all->n];
}

const struct nic_address *
nic_address_find(const struct nic *nic, uint8_t version, const uint8_t *ip, uint16_t vlan_id)
{
	for (uint32_t i = 0; i < nic->addresses->n; i++) {
		const struct nic_address *a = &nic->addresses->all[i];

		if (has_ip(a, version, ip) && is_on(a, vlan_id))
			return a;
	}
	return NULL;
}

bool
nic_address_is_ours(const struct nic *nic, const uint8_t mac[6], uint8_t version, const uint8_t *ip)
{
	for (uint32_t i = 0; i < nic->addresses->n; i++)
		if (is(&nic->addresses->all[i], mac, version, ip))
			return true;
	return false;
}

bool
nic_mac_is_ours(const struct nic *nic, const uint8_t mac[6])
{
	if (memcmp(mac, nic->params.mac, 6) == 0)
		return true;
	for (uint32_t i = nic->addresses->n_own; i < nic->addresses->n; i++)
		if (memcmp(nic->addresses->all[i].mac, mac, 6) == 0)
			return true;
	return false;
}
