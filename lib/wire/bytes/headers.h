/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths of the headers below RoCEv2, and the codes (EtherTypes, protocols, port) by which each
 * names the next one.
 */
#ifndef QUENCH_WIRE_BYTES_HEADERS_H
#define QUENCH_WIRE_BYTES_HEADERS_H

#define ETH_HDR_BYTES 14u
#define VLAN_TAG_BYTES 4u
#define IPV4_HDR_BYTES 20u
#define IPV6_HDR_BYTES 40u
#define UDP_HDR_BYTES 8u

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_ARP 0x0806u
#define ETHERTYPE_VLAN 0x8100u
#define ETHERTYPE_IPV6 0x86DDu
#define ETHERTYPE_MAC_CONTROL 0x8808u
#define ETHERTYPE_LLDP 0x88CCu

#define IP_PROTO_TCP 6u
#define IP_PROTO_UDP 17u

#endif
