/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/connections/connection_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "wire/mad/cm_msg.h"

/*
 * Is a key not copied from the pattern? Both ends have agreed on its value, or a single connection
 * has no use for it.
 */
static bool
is_own(const char *key)
{
	static const char *const own[] = {"connect",  "cm_port",  "peer_mac", "peer_ip",
					  "peer_qpn", "peer_psn", "qp_count", "local_qpn",
					  "tagged",   "vlan_id",  "vlan_pcp", "initial_psn",
					  "stopped",  "mtu_bytes"};

	for (unsigned int i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(own[i], key) == 0)
			return true;
	return false;
}

char *
connection_flow(const struct nic_flow *pattern, const char *name, const struct cm_view *v,
		uint32_t qpn, uint32_t psn)
{
	/* The number of READs that the peer answers at a time. A flow needs at least one. */
	const uint32_t reads = v->other.responder_resources > 0 ? v->other.responder_resources : 1;
	struct nic_flow flow = *pattern;
	char value[FIELD_TEXT_SIZE], ip[FIELD_IP_CHARS], *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	if (out == NULL)
		return NULL;
	if (pattern->qp.verb == NIC_READ && pattern->qp.requester)
		flow.qp.depth = (uint32_t)min_u64(flow.qp.depth, reads);
	for (unsigned int i = 0; i < nic_flow_fields_n; i++) {
		const struct field *f = &nic_flow_fields[i];

		field_format(f, &flow, value, sizeof(value));
		if (!is_own(f->name) && *value != '\0')
			fprintf(out, "flow %s.%s=%s\n", name, f->name, value);
	}
	/* Each end names the PSN at which the other begins to send (12.7.31). */
	fprintf(out,
		"flow %s.peer_ip=%s\nflow %s.peer_qpn=%u\nflow %s.peer_psn=%u\n"
		"flow %s.local_qpn=%u\nflow %s.initial_psn=%u\nflow %s.stopped=on\n"
		"flow %s.mtu_bytes=%u\nflow %s.tagged=%s\nflow %s.vlan_id=%u\nflow %s.vlan_pcp=%u\n",
		name, field_ip_text(&v->peer.ip, ip), name, v->other.qpn, name, psn, name, qpn,
		name, v->other.psn, name, name, cm_mtu_bytes(v->terms.mtu_code), name,
		v->peer.tagged ? "on" : "off", name, v->peer.tagged ? v->peer.vlan_tci & 0xFFF : 0,
		name, v->peer.tagged ? v->peer.vlan_tci >> 13 : 0);
	if (fclose(out) == 0)
		return lines;
	free(lines);
	return NULL;
}
