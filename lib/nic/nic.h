/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC node: RoCEv2 requester and responder on one port, DCQCN reaction and notification point.
 *
 * rx: classify (PFC, RoCEv2 to us, other) -> lengths, ICRC, QP and peer -> CE? the NP -> responder (PSN, ACK/NAK, message
 * completion) or requester (ACK, NAK, CNP -> RP).
 * tx: CNP, then ACK/NAK, then data of each unpaused priority, round robin over its ready QPs -> stamp from the
 * template -> charge the port shaper, the QP's bucket and the RP's byte counter.
 *
 * A QP that has data is in exactly one place: in the wheel (waiting for tokens), in the ready list of its priority
 * (waiting for the wire or for XON), or blocked (window full, waiting for ACK).
 */
#ifndef QUENCH_NIC_NIC_H
#define QUENCH_NIC_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/hist.h"
#include "cc/np.h"
#include "cc/rp.h"
#include "node/node.h"
#include "tm/pfc_rx.h"
#include "tm/qos_map.h"

struct rte_mempool;

enum nic_initial_rate { NIC_INITIAL_LINE, NIC_INITIAL_FAIR, NIC_INITIAL_VALUE };

struct nic_params {
	uint8_t mac[6];
	struct field_ip ip;        /* our IPv4 */
	struct field_ip ip6;       /* our IPv6; version 0: none */
	uint64_t link_speed_bps;
	uint32_t shaper_burst_ns;  /* how far a late poll may catch up */
	uint32_t qp_burst_bytes;   /* how far a late QP may catch up */
	uint32_t first_qpn;        /* QPs are numbered from here, in the order in which they are added */
	uint32_t max_qps;
	bool icrc_check;
	bool dcqcn;                /* off: PFC only, fixed rate */
	bool pfc_obey;
	int initial_rate;          /* enum nic_initial_rate: when the host has other active flows */
	uint64_t initial_rate_bps; /* for NIC_INITIAL_VALUE */
	uint8_t data_dscp;         /* 26 */
	uint8_t local_ack_timeout; /* 4.096 us x 2^n; 0 never */
	uint8_t retry_cnt;
	uint16_t ack_every;        /* responder coalesces: AckReq is set on each n-th packet and on the last */
	uint32_t window_packets;   /* unacknowledged packets per QP */
	struct qos_map_params qos; /* dscp -> tc -> priority, and which priorities obey PFC */
	struct rp_params rp;
	struct np_params np;
	uint64_t seed;
};

extern const struct field nic_fields[];
extern const unsigned int nic_fields_n;

int nic_params_check(const struct nic_params *params, char *why, unsigned int why_size);

/* One QP, connected without a connection manager: both ends are told the same. */
struct nic_qp_params {
	uint8_t peer_mac[6];
	struct field_ip peer_ip;
	uint32_t peer_qpn;
	bool tagged;
	uint16_t vlan_tci;
	bool requester;          /* sends WRITEs; a responder only answers */
	uint16_t mtu_bytes;      /* 256, 512, 1024, 2048, 4096 */
	uint64_t message_bytes;  /* per WRITE, up to 2^31 */
	uint64_t messages;       /* 0: until stop_ns */
	uint64_t start_ns, stop_ns; /* stop_ns NEVER_NS: none */
	uint32_t depth;          /* messages in flight, closed loop */
	uint64_t rate_cap_bps;   /* 0: none */
};

int nic_qp_params_check(const struct nic_qp_params *params, const char **why);

/* Every way in which a received frame is not used. */
enum nic_drop {
	NIC_DROP_MALFORMED,       /* Ethernet or IP: frame_verdict */
	NIC_DROP_NOT_FOR_US,
	NIC_DROP_NOT_ROCE,
	NIC_DROP_BAD_ROCE,        /* lengths, version, opcode, pad: roce_verdict */
	NIC_DROP_BAD_ICRC,        /* rx_icrc_encapsulated */
	NIC_DROP_UNKNOWN_QP,
	NIC_DROP_WRONG_PEER,      /* source address is not that QP's peer */
	NIC_DROP_UNEXPECTED_OPCODE,
	NIC_DROP_UNEXPECTED_ACK,  /* acknowledges what was not sent */
	NIC_DROP_OUT_OF_SEQUENCE,
	NIC_DROP_MAC_CONTROL_MALFORMED,
	NIC_DROP_MAC_CONTROL_UNKNOWN,
	NIC_DROPS
};

const char *nic_drop_name(enum nic_drop d);

struct nic_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
	uint64_t rx_roce_packets;
	uint64_t rx_write_requests;     /* messages begun */
	uint64_t out_of_sequence;
	uint64_t packet_seq_err;        /* NAK sequence errors received */
	uint64_t duplicate_request;
	uint64_t local_ack_timeout_err;
	uint64_t retransmitted_packets;
	uint64_t qp_errors;             /* QPs that ran out of retries */
	uint64_t acks_sent, naks_sent, acks_received;
	uint64_t no_mbuf;               /* a frame could not be built now; it is built later */
	uint64_t rx_pause_frames;
	uint64_t drops[NIC_DROPS];
	struct rp_stats rp;
	struct np_stats np;
};

extern const struct counter_field nic_counters[];
extern const unsigned int nic_counters_n;

struct nic_pools {
	struct rte_mempool *data;    /* from nic_data_pool_create(): constant payload already written */
	struct rte_mempool *control; /* CNP, ACK, NAK */
};

/** Largest frame we make, without FCS, at an MTU. */
uint16_t nic_largest_frame(uint16_t mtu_bytes);

/** A pool whose mbufs hold the constant payload pattern. @return NULL with rte_errno set. */
struct rte_mempool *nic_data_pool_create(const char *name, uint32_t n_mbufs, uint16_t mtu_bytes, int socket);

/** Build a NIC. params are copied; rp_max_rate_bps 0 becomes the link speed. NULL with errno set. */
struct node *nic_create(const struct nic_params *params, const struct nic_pools *pools);
void nic_destroy(struct node *node);

/** Add a QP before the first rx/tx. @return its local QPN, or -errno. */
int64_t nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns);

/* What a QP has done: read by the owner. */
struct nic_qp_info {
	uint32_t local_qpn, peer_qpn;
	uint64_t rate_bps, target_rate_bps, alpha_q32;
	uint64_t tx_wire_bytes, tx_packets, retransmitted_packets;
	uint64_t tx_messages;          /* completed: acknowledged whole */
	uint64_t rx_payload_bytes, rx_messages, rx_packets, rx_wire_bytes; /* delivered in order, as responder */
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps;         /* lowest rate in force so far */
	bool error, done;
};

uint32_t nic_qp_count(const struct node *node);
void nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out);
const struct nic_stats *nic_stats(const struct node *node);
const struct pfc_rx *nic_pfc_rx(const struct node *node);
/** All requesters with a message limit have completed or failed. */
bool nic_done(const struct node *node);

#endif
