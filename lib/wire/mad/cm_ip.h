/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA IP CM service (IBTA volume 1, annex A11): service IDs that stand for TCP ports, and the IP
 * addresses at the beginning of the private data of a REQ.
 */
#ifndef QUENCH_WIRE_MAD_CM_IP_H
#define QUENCH_WIRE_MAD_CM_IP_H

#include <stdbool.h>
#include <stdint.h>

#define CM_IP_BYTES 36u

struct cm_ip {
	uint8_t ip_version;             /* 4 or 6 */
	uint16_t sport;                 /* of the sender; its port is in the service ID */
	uint8_t src_ip[16], dst_ip[16]; /* IPv4 in the first four bytes */
};

/** Service ID of a port (the prefix of the IP CM service, and protocol 6). */
uint64_t cm_ip_service(uint16_t port);
/** @return false: the service ID names no port. */
bool cm_ip_port(uint64_t service_id, uint16_t *port);

/** Read the first CM_IP_BYTES of private data. @return false: another version. */
bool cm_ip_parse(const uint8_t *data, struct cm_ip *out);
void cm_ip_build(uint8_t *data, const struct cm_ip *ip);

#endif
