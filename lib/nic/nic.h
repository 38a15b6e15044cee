/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC node: RoCEv2 requester and responder on one port, with congestion control at both ends.
 *
 * rx: classify (MAC control, RoCEv2 to us, other) -> lengths, ICRC, QP and peer -> CE? the NP ->
 * responder (PSN, ACK/NAK, message completion) or requester (ACK, NAK, CNP -> congestion control).
 * tx: CNP, then ACK/NAK, then data, each only if its priority is not paused; data round robin over
 * the ready QPs -> stamp from the template -> charge the port shaper, the QP's bucket and the
 * byte counter of its congestion control. Every frame, control or data, is charged to the shaper.
 *
 * A QP that has data is in exactly one place: in the wheel (waiting for tokens), in the ready ring
 * of its queue (waiting for the wire or for XON), or blocked (window full, waiting for ACK). What
 * a QP owes its peer (an ACK or NAK, a CNP) is a note in the QP, not a packet: at most one of each
 * is owed, a later ACK covers an earlier one, and a frame that finds no mbuf is built later.
 *
 * Choices, where RoCEv2 and DCQCN leave one:
 * - With cc = none the rate is fixed and CNPs are counted as ignored, as they are with timely; data
 *   still leaves as ECT and CE is still answered, so that the other end may run what it likes.
 * - All frames leave as ECT(0), so that a congested queue marks them rather than drops them;
 *   ACK and NAK carry the data's DSCP.
 * - A port runs PFC or link pause, not both: the other kind of frame is counted and not obeyed.
 * - Peers may be given by IP address only: they are asked by ARP or neighbour discovery, their QPs
 *   wait for the answer, and the first valid frame of the peer is as good as one. Questions about
 *   our own addresses and echo requests are answered. All of that is a frame now and then, so tx()
 *   sends it, and nothing is left for control().
 * - SEND and WRITE are served, with and without immediate. SEND, and WRITE with immediate, find a
 *   receive buffer unless max_recv_wr bounds them; then RNR NAKs hold the requester back. Another
 *   request in sequence is a NAK "invalid request", after which the responder takes no further
 *   request of that QP (IBTA: the QP is in error).
 * - READ is served by QPs that are no requesters themselves (those answer "invalid request"): there
 *   the responder is the reaction point, and the requester the notification point. It hears CNPs
 *   only, since nobody acknowledges a response. ACKs and NAKs wait until the READs before them are
 *   answered. A requester that misses a response asks again from there on, without a NAK.
 * - UD SENDs are of one peer QP, as all else: the source QP must be the peer's, and CNPs go there.
 * - A raw QP sends to a device that has no responder: it asks for no ACK, takes what it has sent as
 *   acknowledged, sends nothing again, and obeys CNPs.
 *
 * Invariants (tested): every frame's ICRC verifies; a QP sends at most rate * t + burst + one frame
 * in any t; what is delivered is in order and counted once; mbufs taken = given away + put back.
 */
#ifndef QUENCH_NIC_NIC_H
#define QUENCH_NIC_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/hist.h"
#include "cc/cc.h"
#include "cc/np.h"
#include "fwd/neigh.h"
#include "nic/workload.h"
#include "node/node.h"
#include "tm/pause_storm.h"
#include "tm/pfc_rx.h"
#include "tm/pfc_tx.h"
#include "tm/qos_map.h"
#include "tm/rx_drain.h"

struct rte_mempool;

/* Pause frames that are obeyed, and sent by a slow receiver: 802.1Qbb, 802.3x, or none. */
enum nic_flow_control { NIC_FLOW_OFF, NIC_FLOW_PFC, NIC_FLOW_PAUSE };

/* Whether control frames have a transmit queue of the device apart: where it has one to spare, or
 * else nothing starts; for the programs. */
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
	uint32_t shaper_burst_ns; /* how far a late poll may catch up; the lab uses 1 */
	uint32_t qp_burst_bytes;  /* how far a late QP may catch up */
	uint32_t first_qpn; /* QPs are numbered from here, in the order in which they are added */
	uint32_t max_qps;
	bool icrc_check;
	int cc;                    /* enum cc_algorithm */
	int flow_control;          /* enum nic_flow_control */
	int initial_rate;          /* enum nic_initial_rate: when the host has other active flows */
	uint64_t initial_rate_bps; /* for NIC_INITIAL_VALUE */
	uint8_t data_dscp;
	uint8_t local_ack_timeout; /* 4.096 us x 2^n; 0 never */
	uint8_t retry_cnt;
	uint8_t rnr_retry;     /* waits for a receiver that is not ready, in a row; 7: any number */
	uint8_t min_rnr_timer; /* code of an RNR NAK: how long our peer waits */
	uint8_t max_rd_atomic; /* READs outstanding per QP: asked for, and kept to be served again
				*/
	uint16_t ack_every;    /* AckReq is set on each n-th packet and on the last of a message */
	uint32_t window_packets;          /* unacknowledged packets per QP */
	int control_tx_queue;             /* enum nic_control_tx_queue */
	bool measure_pacing;              /* say in pkt_meta.due_ns when a paced frame was due */
	int measure_times;                /* enum nic_measure_choice: of messages and round trips */
	uint64_t neigh_retrans_time_ns;   /* between two ARP requests or solicitations of a peer */
	uint64_t neigh_reachable_time_ns; /* then a peer is asked again; NEVER_NS: not */
	struct qos_map_params qos; /* dscp -> tc -> priority, and which priorities obey PFC */
	struct rp_params rp;       /* of cc = dcqcn; each algorithm has its own */
	struct dctcp_params dctcp;
	struct timely_params timely;
	struct np_params np;
	struct rx_drain_params receiver; /* a slow one */
	struct pfc_params pfc;           /* pause frames of a slow receiver */
	/* Of the hash of neighbours, for the node's life: a secret, not of the configuration. */
	struct half_sip_key table_key;
};

/* Members of nic_params itself; its structs have tables of their own. */
extern const struct field nic_fields[];
extern const unsigned int nic_fields_n;

/** Defaults of all these tables, rp's of its paper profile: all that is missing is an address. */
void nic_params_default(struct nic_params *params);

/**
 * Rules across keys, those of qos and rp included.
 * @param why  On failure one clause that names the key and the rule.
 * @return     0 or -EINVAL.
 */
int nic_params_check(const struct nic_params *params, char *why, unsigned int why_size);

/* Receive WQEs, and the time in which they are posted: their product has 64 bits to spare. */
#define NIC_MAX_RECV_WR 65536u
#define NIC_MAX_POST_RECV_NS (3600 * NS_PER_SEC)

enum nic_verb { NIC_WRITE, NIC_WRITE_IMM, NIC_SEND, NIC_READ, NIC_UD_SEND };
extern const char *const nic_verb_words[];

/* One QP, connected without a connection manager: both ends are told the same. */
struct nic_qp_params {
	uint8_t peer_mac[6]; /* zero: found out from peer_ip, by ARP or neighbour discovery */
	struct field_ip peer_ip;
	uint32_t peer_qpn;
	uint32_t initial_psn; /* of both directions */
	bool tagged;
	uint16_t vlan_tci;
	uint32_t flow_id;      /* QPs with one number are one flow: never below the last's */
	uint64_t base_rtt_ns;  /* of an idle network; 0: the least that is measured */
	bool requester;        /* sends messages; a responder only answers */
	bool stopped;          /* begins no message, until nic_reload() */
	int verb;              /* enum nic_verb */
	bool raw;              /* nobody answers; with UD always */
	uint32_t qkey;         /* of UD, at both ends */
	uint32_t max_recv_wr;  /* a responder's receive WQEs; 0: there is always one */
	uint64_t post_recv_ns; /* time after which one that was taken is posted again */
	bool has_dscp;         /* dscp instead of the NIC's data_dscp */
	uint8_t dscp;
	uint16_t mtu_bytes;    /* 256, 512, 1024, 2048, 4096 */
	uint64_t rate_cap_bps; /* 0: none */
	WORKLOAD_EMBED;
};

/** @return 0, or -EINVAL with a clause in *why that names the member and the rule. */
int nic_qp_params_check(const struct nic_qp_params *params, const struct nic_params *nic,
			const char **why);

/* Every way in which a received frame is not used. */
enum nic_drop {
	NIC_DROP_MALFORMED, /* Ethernet or IP: frame_verdict */
	NIC_DROP_NOT_FOR_US,
	NIC_DROP_NOT_ROCE,
	NIC_DROP_BAD_ROCE, /* lengths, version, opcode, pad: roce_verdict */
	NIC_DROP_BAD_ICRC, /* rx_icrc_encapsulated */
	NIC_DROP_UNKNOWN_QP,
	NIC_DROP_WRONG_PEER, /* source address is not that QP's peer */
	NIC_DROP_UNEXPECTED_OPCODE,
	NIC_DROP_WRONG_TRANSPORT,     /* UD for an RC QP, or the reverse */
	NIC_DROP_BAD_QKEY,            /* qkey_violations */
	NIC_DROP_UNEXPECTED_ACK,      /* acknowledges what was not sent */
	NIC_DROP_UNEXPECTED_RESPONSE, /* of READ: not asked for, or not of the form it must have */
	NIC_DROP_OUT_OF_SEQUENCE,
	NIC_DROP_OUT_OF_BUFFER, /* no receive WQE */
	NIC_DROP_NO_BUFFER,     /* rx_discards_phy: the slow receiver's buffer is full */
	NIC_DROP_MAC_CONTROL_MALFORMED,
	NIC_DROP_MAC_CONTROL_UNKNOWN,
	NIC_DROP_MAC_CONTROL_ADDRESS, /* to another station */
	NIC_DROP_NEIGH_MALFORMED, /* ARP or neighbour discovery */
	NIC_DROP_ANSWER_OVERFLOW, /* a question while answers have used up their share of the link */
	NIC_DROPS
};

/** The reason's name, e.g. "wrong_peer". */
const char *nic_drop_name(enum nic_drop d);

struct nic_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
	uint64_t rx_roce_packets;
	uint64_t rx_crossed_packets;                  /* received for a QP of another node */
	uint64_t rx_write_requests, rx_send_requests; /* messages begun */
	uint64_t rx_read_requests;                    /* in order, each once */
	uint64_t duplicate_response;                  /* READ responses that came again */
	uint64_t implied_nak_seq_err; /* an answer showed that READ responses before it are lost */
	uint64_t rx_ud_missed_packets,
		rx_ud_late_packets; /* PSNs passed over; behind a later one */
	uint64_t out_of_sequence;
	uint64_t packet_seq_err; /* NAK sequence errors received */
	uint64_t duplicate_request;
	uint64_t local_ack_timeout_err;
	uint64_t retransmitted_packets;
	uint64_t qp_errors; /* QPs that ran out of retries or were refused by their responder */
	uint64_t acks_sent, naks_sent, acks_received;
	uint64_t rnr_naks_sent, rnr_naks_received; /* the former among naks_sent */
	uint64_t rnr_nak_retry_err;                /* QPs that waited for a receiver too often */
	uint64_t no_mbuf; /* a frame could not be built now; it is built later */
	uint64_t rx_pause_frames, tx_pause_frames;
	uint64_t rx_global_pause_frames; /* 802.3x, among rx_pause_frames */
	struct pause_storm_stats pause_storm;
	uint64_t neigh_requests_sent, neigh_requests_answered, echo_requests_answered;
	uint64_t drops[NIC_DROPS];
	struct rp_stats rp; /* CNPs of all algorithms */
	struct dctcp_stats dctcp;
	struct timely_stats timely;
	struct np_stats np;
	struct neigh_stats neigh;
};

/* Members of nic_stats itself and of neigh, drops included; its other structs have tables of their
 * own. */
extern const struct counter_field nic_counters[];
extern const unsigned int nic_counters_n;

struct nic_pools {
	struct rte_mempool *data;    /* from nic_data_pool_create() */
	struct rte_mempool *control; /* CNP, ACK, NAK: at least nic_largest_frame(0) of data room */
	/* Of all NICs of one thread, which it outlives: 4 KB for each length of a payload. NULL:
	 * each makes its own. */
	struct nic_payloads *payloads;
};

/** What is known of the constant payload, by length. @return owned by the caller, or NULL. */
struct nic_payloads *nic_payloads_create(void);
void nic_payloads_destroy(struct nic_payloads *p);

/** Largest frame we make, without FCS, at an MTU. */
uint16_t nic_largest_frame(uint16_t mtu_bytes);

/**
 * A pool whose mbufs hold the constant payload pattern at a fixed place. Only NICs allocate from
 * it. Whoever changes payload bytes of such a frame restores them before the mbuf is freed: the
 * pattern is written once. Freed with pkt_pool_destroy().
 *
 * @param mtu_bytes  Largest MTU of the QPs that use it.
 * @return           The pool, or NULL with rte_errno set.
 */
struct rte_mempool *nic_data_pool_create(const char *name, uint32_t n_mbufs, uint16_t mtu_bytes,
					 int socket);

/**
 * Build a NIC. params are copied; rp_max_rate_bps 0 becomes the link speed.
 * @return the node, owned by the caller, or NULL with errno EINVAL or ENOMEM.
 */
struct node *nic_create(const struct nic_params *params, const struct nic_pools *pools);
void nic_destroy(struct node *node);

/**
 * The device has a transmit queue for pause frames, CNPs, ACKs and NAKs: from now on tx_control()
 * gives those, and tx() the rest. Before the first tx().
 */
void nic_send_control_apart(struct node *node);

/* Faults of a host that is one node, beside rx() and tx(). */

/** The host takes frames out of its buffers at another rate from now on; 0: all at once. */
void nic_set_drain_rate(struct node *node, uint64_t drain_rate_bps, uint64_t now_ns);
/** A defect holds the peer: XOFF for all priorities with PFC (or the link), sent again for ever,
 * whatever its buffers say and device_stall_critical_watermark_ns; or no longer. */
void nic_set_pause_storm(struct node *node, bool on, uint64_t now_ns);
/** The link went down or came up: pauses of both directions begin anew. */
void nic_reset_pause(struct node *node, uint64_t now_ns);

/** Add a QP before the first rx/tx. @return its local QPN, or -EINVAL, -ENOSPC, -ENOMEM. */
int64_t nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns);

/* What may change of a flow while the node runs, as of struct nic_qp_params. */
struct nic_flow_live {
	bool stopped;
	uint64_t rate_cap_bps, load_bps;
};

struct nic_reload {
	struct nic_params params;          /* only members whose fields are live count */
	const struct nic_flow_live *flows; /* by flow_id; not owned */
	uint32_t n_flows;
	/* with nic_take_flows(), flow_ids, not owned */
	const uint32_t *go, *come;
	uint32_t n_go, n_come;
};

/*
 * Flows that come and go while the node runs.
 *
 * One that goes begins no message; what is in flight is ended, or given up after its timeouts. Its
 * QPs are free when it is quiet; what they counted stays until then. One that comes starts at its
 * start_ns, or when it comes if that is later.
 */

/** Let flows come by nic_reload() only, so many at a time, flow_id below that. Before the first.
 * @return 0 or -ENOMEM. */
int nic_take_flows(struct node *node, uint32_t max_flows);

/* Which QPs of the node a flow has, side by side. */
struct nic_flow_place {
	uint32_t first_number; /* in the NIC, of the flow's first QP, counted from first_qpn */
	uint32_t first_item, n_qps;
};

/**
 * Take the memory that a flow needs; nic_reload() then lets it come. From one thread at a time,
 * which need not be the owner. No flow has this number or these QPs.
 *
 * @param params  Of the QP with first_number; the peer's QPN of each other counts on from it.
 * @return        0, -EINVAL or -ENOMEM; nic_forget_flow() in each case.
 */
int nic_prepare_flow(struct node *node, const struct nic_qp_params *params,
		     const struct nic_flow_place *place);
/** Has a flow that was let go come to rest? From any thread. */
bool nic_flow_is_free(const struct node *node, uint32_t flow_id);
/** Its number and its QPs may be another's. Of one that is free, or was prepared and not let come.
 */
void nic_forget_flow(struct node *node, uint32_t flow_id);

/**
 * Other params while the node runs: from any thread, one at a time. The owner puts them in force in
 * its next rx() or tx(), from that instant on for all QPs (doc/architecture.md, "A change while it
 * runs"); some of those that nothing touches are visited in each call.
 *
 * A flow that is stopped begins no message; what it has begun it ends. One that goes on begins
 * within a millisecond, or a microsecond for each QP of the node if that is more. Messages of an
 * open loop that had come stay, none come while it is stopped, and those to come do so at the new
 * load. What waits for tokens or for a message waits no longer than the change allows, within a
 * turn of all QPs.
 *
 * @param r  params after nic_params_check(). It must outlive nic_reload_is_done(). Of a flow that
 *           goes, flows[] is not read.
 */
void nic_reload(struct node *node, const struct nic_reload *r);
/** From any thread. */
bool nic_reload_is_done(const struct node *node);

/**
 * Reset the QPs of a flow while the node runs, because its peer lost them: each begins again with
 * its initial PSN, one that gave up too, and sends the messages again that were not acknowledged
 * whole. What a responder had received of a message is forgotten. Rates and counters stay. Of UD
 * nothing is reset. What the peer does meanwhile is answered by the new state as soon as it is
 * there: reset the end that answers first.
 *
 * From any thread, one at a time, not beside nic_reload(). The owner does it in its next calls,
 * some QPs in each.
 *
 * @return 0 or -ENOMEM.
 */
int nic_reset_flow(struct node *node, uint32_t flow_id);
/** From any thread. */
bool nic_reset_is_done(const struct node *node);

/**
 * Let the messages of a requester wait for those that another QP of the node receives: message m is
 * begun when m messages have come in whole, so the first at once. Before the first rx/tx, once for
 * either QP.
 *
 * @param index, after  QPs in the order in which they were added: a requester with arrival =
 * closed, and one that answers WRITE or SEND.
 * @return              0, -EINVAL or -ENOMEM.
 */
int nic_chain(struct node *node, uint32_t index, uint32_t after);

/* What a QP has done. */
struct nic_qp_info {
	uint32_t local_qpn, peer_qpn;
	uint64_t rate_bps, target_rate_bps, alpha_q32; /* as of when the QP was last looked at */
	uint64_t rtt_ns;                               /* last measured, at most 4.29 s; 0: none */
	uint64_t tx_wire_bytes, tx_packets, retransmitted_packets;
	uint64_t tx_messages;      /* completed: acknowledged whole, of READ all data is here */
	uint64_t tx_payload_bytes; /* of these messages; of a responder, of READs answered */
	uint64_t rx_payload_bytes, rx_messages, rx_packets, rx_wire_bytes; /* in order, once */
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps; /* lowest rate in force so far */
	/* Of a single QP 0 unless times are measured. CE: of data received. */
	uint64_t ce_packets, cnps_ignored;
	uint64_t completions, completion_sum_ns, completion_max_ns; /* messages that were timed */
	bool error, done;
};

uint32_t nic_qp_count(const struct node *node);
/**
 * Read what a QP has done. From any thread: members may be a packet apart.
 *
 * @param index  QPs in the order in which they were added; any number is allowed.
 * @return       false: there is no such QP, and *out is zero. A QP of a flow that comes is there
 *               when its owner has made it, after nic_reload(); it is gone when its flow has left.
 */
bool nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out);
const struct nic_stats *nic_stats(const struct node *node);
const struct pfc_rx *nic_pfc_rx(const struct node *node);
/** All zero unless the receiver is slow. With 802.3x, priority 0 stands for the link in both. */
const struct pfc_tx *nic_pfc_tx(const struct node *node);
/** Peers given by address only, and how many of them have not told theirs. */
uint32_t nic_neighbours(const struct node *node, uint32_t *unresolved);
/** All requesters that end (messages or stop_ns given) have completed or failed; true if none. */
bool nic_done(const struct node *node);
/** QPs that have given up and were not reset since. From any thread. */
uint32_t nic_failed(const struct node *node);

#endif
