/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of an importer that turns the lines of a running-config into a switch. Private to
 * lib/import.
 *
 * A qos-group becomes the traffic class and the queue of the same number; the priority of "pause
 * pfc-cos" becomes the priority group. One policy of each kind is active, set by system qos or by
 * the interfaces.
 */
#ifndef QUENCH_IMPORT_NXOS_PARTS_H
#define QUENCH_IMPORT_NXOS_PARTS_H

#include "import/nxos/lines.h"

#define NX_GROUPS TM_CLASSES

struct nxos {
	struct nx_lines nx;
	struct import_switch *out;
	struct import_log *log;
	/* Lines of the active policy-maps; -1: none. */
	int qos_policy, queuing_policy, network_policy;
	uint8_t default_group;      /* group of class-default */
	uint8_t no_drop;            /* groups with PFC */
	uint8_t pfc_cos[NX_GROUPS]; /* PFC priority of these groups */
	/* Lines of the ports' interfaces. */
	int port_line[SW_DEVICE_PORTS];
	/*
	 * Lines of the interfaces with a port's VLANs and addresses: its own, or that of its
	 * port-channel. -1: it has none.
	 */
	int network_line[SW_DEVICE_PORTS];
};

/* Each function returns 0, or -EINVAL after a refusal. */

/** The policy-map of type qos: DSCP and CoS to groups. */
int nxos_qos(struct nxos *x);
/** The policy-map of type network-qos: MTU and PFC. */
int nxos_network(struct nxos *x);
/** The policy-map of type queuing: the queues. */
int nxos_queuing(struct nxos *x);
/**
 * After all policies are read: derive the maps from qos-groups to queues, priority groups and PFC
 * priorities.
 */
void nxos_maps(struct nxos *x);
/** The interfaces, which become ports. Call after the switch-wide lines. */
int nxos_ports(struct nxos *x);
/** VLANs, and the ports in them. Call after the ports. */
int nxos_switchports(struct nxos *x);
/** Addresses of VLANs and ports, and static routes. Call after the VLANs. */
int nxos_ip(struct nxos *x);
/** The VLAN of an interface line of a VLAN; 0: another line. */
uint16_t nxos_vlan_interface(const struct nx_line *line);
/** Is this the interface line of a port-channel? */
bool nxos_is_channel(const struct nx_line *line);
/** Read a service-policy line; does nothing for another line. */
int nxos_service(struct nxos *x, int line);

/** Find the next class of a policy after line i, and its *group. @return its line, or -1. */
int nxos_next_class(struct nxos *x, const char *type, int policy, int i, int *group);

#endif
