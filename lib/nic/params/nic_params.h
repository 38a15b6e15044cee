/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of a NIC and of its QPs: keys, defaults and rules.
 *
 * A NIC copies its parameters when it is created. Members whose fields are live may change while
 * it runs (nic_reload()).
 */
#ifndef QUENCH_NIC_PARAMS_NIC_PARAMS_H
#define QUENCH_NIC_PARAMS_NIC_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field_table.h"
#include "cc/cc.h"
#include "cc/points/np.h"
#include "base/numbers/half_sip.h"
#include "nic/workload/workload.h"
#include "tm/pfc/pfc_tx.h"
#include "tm/classes/qos_map.h"
#include "nic/host/rx_drain.h"

/* Pause frames that the NIC obeys, and sends if its receiver is slow: none, 802.1Qbb or 802.3x. */
enum nic_flow_control { NIC_FLOW_OFF, NIC_FLOW_PFC, NIC_FLOW_PAUSE };

/*
 * Do control frames use their own transmit queue of the device? AUTO: if the device has a spare
 * queue; ON: always, else the program does not start. Only programs with devices read this.
 */
enum nic_control_tx_queue {
	NIC_CONTROL_TX_QUEUE_OFF,
	NIC_CONTROL_TX_QUEUE_ON,
	NIC_CONTROL_TX_QUEUE_AUTO,
};

/* measure_times: off, on, or on up to NIC_TIMED_QPS QPs of a node. */
enum nic_measure_choice { NIC_MEASURE_OFF, NIC_MEASURE_ON, NIC_MEASURE_AUTO };

enum nic_initial_rate { NIC_INITIAL_LINE, NIC_INITIAL_FAIR, NIC_INITIAL_VALUE };

struct nic_params {
	uint8_t mac[6];
	struct field_ip ip;  /* our IPv4; version 0: none */
	struct field_ip ip6; /* our IPv6; version 0: none */
	uint64_t link_speed_bps;
	uint32_t shaper_burst_ns; /* largest burst after a late poll; the lab uses 1 */
	uint32_t qp_burst_bytes;  /* largest burst of a QP after a late poll */
	bool spread_starts;       /* of QPs with equal rate_cap_bps, and of streams of frames */
	bool exact_pacing;        /* to 1 ns, for a driver in virtual time; else to 32 ns */
	uint32_t first_qpn; /* QPs are numbered from here, in the order in which they are added */
	uint32_t max_qps;
	bool icrc_check;
	int cc;                    /* enum cc_algorithm */
	uint32_t cc_of_flows;      /* algorithms that flows may choose: bits of enum cc_algorithm */
	int flow_control;          /* enum nic_flow_control */
	int initial_rate;          /* enum nic_initial_rate: if the host has other active flows */
	uint64_t initial_rate_bps; /* for NIC_INITIAL_VALUE */
	uint8_t data_dscp;
	int8_t ack_dscp;           /* -1: that of the data */
	int data_ecn, ack_ecn;     /* code points: 0 Not-ECT, 1 ECT(1), 2 ECT(0) */
	uint8_t local_ack_timeout; /* 4.096 us x 2^n; 0 never */
	uint8_t retry_cnt;
	uint8_t rnr_retry;     /* consecutive RNR waits allowed; 7: any number */
	uint8_t min_rnr_timer; /* code in an RNR NAK: time that our peer waits */
	uint8_t max_rd_atomic; /* READs outstanding per QP as requester, and remembered as
				* responder */
	uint16_t ack_every;    /* AckReq is set on each n-th packet and on the last of a message */
	uint32_t window_packets;    /* unacknowledged packets per QP */
	uint32_t rate_window_bytes; /* ... and payload, at the port's speed; 0: no such window */
	uint8_t int_slots;          /* of INT headers, if congestion control hears hops */
	int control_tx_queue;       /* enum nic_control_tx_queue */
	uint16_t rx_frame_bytes;    /* largest test frame that is received, with FCS */
	uint32_t signatures;        /* slots for received test frames, a power of two; 0: none */
	uint64_t signature_key;     /* of the test frames of a run */
	bool measure_pacing;        /* set pkt_meta.due_ns of paced frames */
	int measure_times;          /* enum nic_measure_choice: of messages and round trips */
	/* connections that are opened by messages (nic/cm) */
	uint8_t cm_response_timeout; /* 4.096 us x 2^n */
	uint8_t cm_max_retries;
	uint64_t neigh_retrans_time_ns;   /* between two requests to a peer */
	uint64_t neigh_reachable_time_ns; /* time to the next resolution */
	struct qos_map_params qos; /* dscp -> tc -> priority, and which priorities obey PFC */
	union {
		struct rp_params rp;        /* of cc = dcqcn, whose slot is the first */
		struct cc_params cc_params; /* of all algorithms */
	};
	struct np_params np;
	struct rx_drain_params receiver; /* simulates a slow receiver */
	struct pfc_params pfc;           /* pause frames of a slow receiver */
	/* Key of the neighbour hash for the node's life: a secret, not configured. */
	struct half_sip_key table_key;
};

/*
 * All of struct nic_params, as sections of a configuration. The first NIC_DEVICE_SECTIONS describe
 * one NIC on its port: addresses, speed, room for QPs. A fabric chooses them for each of its NICs.
 */
#define NIC_DEVICE_SECTIONS 1u
extern const struct field_section nic_sections[];
extern const unsigned int nic_sections_n;
/* The sections before this one follow the column `live`; no key of the others changes live. */
extern const unsigned int nic_live_sections_n;

/** Algorithms of the NIC and its flows: bits of enum cc_algorithm. */
uint32_t nic_cc_mask(const struct nic_params *params);

/** Set all defaults, those of rp from the paper profile. Addresses have none and stay zero. */
void nic_params_default(struct nic_params *params);

/**
 * Check ranges and rules across keys, also of the structs inside.
 * @return 0, or as params_refuse().
 */
int nic_params_check(const struct nic_params *params, char *why, unsigned int why_size);

/*
 * MTUs of a QP: those of IBTA, powers of two up to 4096, and between two quench-nics any multiple
 * of NIC_MIN_MTU. With the largest, an IP packet has 9036 bytes or fewer: less than the 9100 of
 * SONiC's ports.
 */
#define NIC_MAX_MTU 8960u
#define NIC_MAX_IBTA_MTU 4096u
#define NIC_MIN_MTU 256u
#define NIC_MTU_TEXT "256, 512, 1024, 2048, 4096, or to a quench-nic a multiple of 256 up to 8960"
/* A window must leave PSN comparisons unambiguous (IBTA: half of the PSN space). */
#define NIC_MAX_WINDOW ((1u << 23) - 1)
/* Slots for received test frames. */
#define NIC_TRACKED_MOST 16384u
/* Connections of a NIC that are open, or about to open or to close. */
#define NIC_CM_CONNECTIONS 1024u
/* Limits of receive WQEs and of their posting time: the product fits into 64 bits. */
#define NIC_MAX_RECV_WR 65536u
#define NIC_MAX_POST_RECV_NS (3600 * NS_PER_SEC)

enum nic_verb { NIC_WRITE, NIC_WRITE_IMM, NIC_SEND, NIC_READ, NIC_UD_SEND, NIC_SEND_IMM };
extern const char *const nic_verb_words[];

static inline bool
nic_verb_has_imm(int verb)
{
	return verb == NIC_WRITE_IMM || verb == NIC_SEND_IMM;
}

/**
 * Does the algorithm (enum cc_algorithm) act on ACKs, which the sender of such a flow never gets?
 * @param raw  The receiver sends no ACKs.
 */
bool nic_is_uncontrolled(int cc, int verb, bool raw);
/* Format of the warning: flow, verb, raw or nothing, algorithm. */
#define NIC_UNCONTROLLED                                                                            \
	"[flow %s] verb = %s%s: cc = %s acts on ACKs, and these senders get none: their rate does " \
	"not follow congestion"
#define NIC_RAW_TEXT(raw) ((raw) ? ", raw = on" : "")

/* One QP. Without a connection manager, the configurations of both ends must agree. */
struct nic_qp_params {
	uint8_t peer_mac[6]; /* zero: resolved from peer_ip by ARP or neighbour discovery */
	struct field_ip peer_ip;
	struct field_ip
		next_hop;     /* router to the peer, whose address is resolved; version 0: none */
	uint8_t local_mac[6]; /* of our end; zero: that of the NIC */
	struct field_ip local_ip; /* version 0: that of the NIC */
	uint32_t peer_qpn;
	uint32_t initial_psn; /* of the first packet that the QP sends */
	uint32_t peer_psn;    /* of the peer's first packet; 0: as initial_psn */
	bool tagged;
	uint16_t vlan_tci;
	uint32_t flow_id;     /* QPs with the same id are one flow; ids never decrease */
	uint64_t base_rtt_ns; /* of an idle network; 0: use the minimum measured */
	bool requester;       /* sends messages; a responder only answers */
	bool stopped;         /* begins no messages until nic_reload() clears this */
	bool held;            /* takes no turn before nic_unhold_qp() */
	bool barrier;         /* sends in rounds, as an incast does, but others open them */
	int verb;             /* enum nic_verb */
	int cc;               /* a choice (cc.h), at both ends; in cc_of_flows of the NIC */
	bool raw;             /* no ACKs; always set with UD */
	uint32_t qkey;        /* of UD, at both ends */
	/* of a requester's WRITE and READ: the peer's memory (IBTA 9.3.3, RETH) */
	uint64_t remote_addr;
	uint64_t remote_addr_stride; /* from a QP of the flow to the next one */
	uint32_t rkey;
	/* of a responder: memory that WRITE and READ may name; no bytes: any */
	uint32_t local_rkey;
	uint64_t local_addr, local_bytes;
	uint32_t max_recv_wr;  /* receive WQEs of a responder; 0: unlimited */
	uint64_t post_recv_ns; /* time after which a used WQE is posted again */
	bool has_dscp;         /* dscp instead of the NIC's data_dscp */
	uint8_t dscp;
	bool has_imm; /* imm_data instead of the message's number */
	uint32_t imm_data;
	bool imm_timestamp;    /* immediate data is the time at which the packet leaves */
	uint16_t udp_sport;    /* 0: from the numbers of the two QPs */
	uint16_t mtu_bytes;    /* one of NIC_MTU_TEXT */
	uint64_t rate_cap_bps; /* 0: none */
	WORKLOAD_EMBED;
};

/* Members of struct nic_qp_params that may change while the node runs. */
struct nic_flow_update {
	bool stopped;
	uint64_t rate_cap_bps, load_bps;
};

/** Our address of a QP: version 0 if the NIC has none for the peer's version. */
struct field_ip nic_qp_local_ip(const struct nic_params *nic, const struct nic_qp_params *qp);

/** Is it one of NIC_MTU_TEXT? */
bool nic_is_mtu(uint16_t mtu_bytes);

/** @return 0, or as params_refuse(). */
int nic_qp_params_check(const struct nic_qp_params *params, const struct nic_params *nic, char *why,
			unsigned int why_size);

#endif
