/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of an importer that turns the lines of a running-config into a switch. Private to
 * lib/import.
 *
 * A qos-group becomes the traffic class and the queue of the same number; the priority of "pause
 * pfc-cos" becomes the priority group. A policy of an interface replaces that of system qos, except
 * for type network-qos, which applies to the whole switch.
 */
#ifndef QUENCH_IMPORT_NXOS_PARTS_H
#define QUENCH_IMPORT_NXOS_PARTS_H

#include "import/nxos/lines.h"

#define NX_GROUPS TM_CLASSES

/* No policy-map in the file: none applies, or one that NX-OS predefines. */
#define NX_NO_POLICY -1

/* Kinds of policies that an interface may have: qos, queuing of output, queuing of input. */
enum nx_policy_kind { NX_QOS, NX_OUTPUT, NX_INPUT, NX_POLICY_KINDS };

/* The policies of system qos or of an interface. */
struct nx_policies {
	struct nx_policy {
		bool is_set;
		int line; /* of the policy-map, or NX_NO_POLICY */
	} of[NX_POLICY_KINDS];
};

struct nxos {
	struct nx_lines nx;
	struct import_switch *out;
	struct import_log *log;
	struct nx_policies system, port[SW_DEVICE_PORTS];
	int network_policy;         /* line of the policy-map, or NX_NO_POLICY */
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

/** The policy-maps of type qos: DSCP and CoS to groups. */
int nxos_qos(struct nxos *x);
/** The policy-map of type network-qos: MTU and PFC. */
int nxos_network(struct nxos *x);
/** The policy-maps of type queuing for output: the queues. Call after nxos_network(). */
int nxos_output(struct nxos *x);
/** The policy-maps of type queuing for input: thresholds of PFC. Call after nxos_network(). */
int nxos_input(struct nxos *x);
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
/** The block of the port-channel that a port is in, or -1. */
int nxos_channel_of(struct nxos *x, uint16_t port);
/** Read a service-policy line of system qos or of an interface; does nothing for another line. */
int nxos_service(struct nxos *x, int line, struct nx_policies *of);
/** The line of the policy-map that applies to a port, or NX_NO_POLICY. */
int nxos_policy(const struct nxos *x, uint16_t port, enum nx_policy_kind kind);
/** The first port with the same policy of a kind; the port itself if there is no earlier one. */
uint16_t nxos_first_with(const struct nxos *x, uint16_t port, enum nx_policy_kind kind);
/** The name of a policy-map. */
const char *nxos_policy_name(const struct nxos *x, int policy);

/** Find the next class of a policy after line i, and its *group. @return its line, or -1. */
int nxos_next_class(struct nxos *x, const char *type, int policy, int i, int *group);

/* Numbers of "pause buffer-size B pause-threshold P resume-threshold R". */
struct nx_pause {
	uint64_t buffer_bytes, pause_bytes, resume_bytes;
};

/** Parse the first three words of a. */
int nxos_read_pause(struct nxos *x, int line, const struct nx_args *a, struct nx_pause *out);
/**
 * Add a buffer profile, or find an equal one.
 * @param suffix  Name it POLICY_SUFFIX; policy NX_NO_POLICY: nxos_SUFFIX.
 * @return        its name, or NULL: there is no room for it.
 */
const char *nxos_add_profile(struct nxos *x, int policy, const char *suffix,
			     const struct buffer_profile *profile);
/** A new profile's name, with the policy-map's line if its name makes no valid one. */
void nxos_profile_name(const struct nxos *x, int policy, const char *suffix,
		       char name[SW_PROFILE_NAME + 1]);
/** The limit, hysteresis and headroom of a priority group. */
struct buffer_profile nxos_pause_profile(const struct nx_pause *pause);

#endif
