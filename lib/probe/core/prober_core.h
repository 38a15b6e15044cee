/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prober as a peer: it answers the NIC's requests, sends crafted frames, and keeps what it sees
 * for the experiments. It decides nothing about the NIC.
 *
 * An experiment is one function that runs from wait to wait (PROBER_WAIT): after each burst of
 * received frames and at its alarm, it is called again and goes on where it was. What must survive
 * a wait is in struct prober.
 */
#ifndef QUENCH_PROBE_CORE_PROBER_CORE_H
#define QUENCH_PROBE_CORE_PROBER_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/threads/counter.h"
#include "node/node.h"
#include "node/pkt_fifo.h"
#include "probe/curve/curve.h"
#include "probe/curve/recovery.h"
#include "probe/params/prober_params.h"
#include "probe/report/findings.h"
#include "wire/roce/roce.h"

/* What the responder of a QP does with the NIC's requests. */
enum prober_mode {
	PROBER_ANSWER, /* as a responder should */
	PROBER_HOLD,   /* acknowledges a packet at long intervals, so that the window fills */
	PROBER_SILENT, /* acknowledges nothing */
};

#define PROBER_RECENT 64u

/* READs of a QP of the NIC, as their responder. */
#define PROBER_MOST_READS 16u

struct prober_read {
	uint32_t psn, packets, bytes;
	uint32_t sent; /* packets of the response */
};

struct prober_reads {
	uint64_t n_requests;
	uint32_t first, n; /* a ring of those that are not answered wholly */
	struct prober_read of[PROBER_MOST_READS];
	uint64_t next_ns; /* next packet of a response */
	/* a lost packet */
	bool lose_next; /* lose the second packet of the next long response */
	bool is_lost, is_asked_again;
	uint32_t lost_psn, again_psn;
	uint64_t gap_ns, again_ns; /* the packet after it left; the request came */
};

/* Packets that a responder keeps ahead of a gap: as many as any NIC has on their way. */
#define PROBER_AHEAD 4096u

struct prober_qp {
	struct roce_path path; /* to the NIC */
	uint8_t mode;          /* enum prober_mode */
	bool synced;           /* epsn is known */
	bool naked;            /* a NAK for this gap was sent */
	bool lose_next;        /* treat the next request in sequence as lost */
	bool lose_last;        /* lose the last packet of a message, and be silent from then on */
	bool refuse_next;      /* answer the next message with an RNR NAK */
	uint8_t refuse_timer;  /* of that NAK */
	bool skip_acks;        /* the next ACK is lost on its way */
	bool uncovered;        /* it was, and no later one has been sent */
	bool missed;           /* what was sent again meanwhile: that ACK was needed */
	bool has_sport, sport_varies;
	uint16_t sport;
	uint32_t epsn, msn;
	uint32_t highest_psn; /* received so far */
	uint32_t held_psn;    /* PROBER_HOLD: next to acknowledge */
	uint32_t lost_psn;    /* of lose_next, lose_last and refuse_next */
	/* Packets ahead of epsn that arrived: bit PSN mod the number. Only if prober.keeps. */
	uint64_t ahead[PROBER_AHEAD / 64];
	uint32_t unacked;   /* packets since our last ACK */
	uint32_t next_psn;  /* of our requests */
	uint32_t acked_psn; /* the NIC expects that one, as far as it has said */
	struct prober_reads reads;
	uint64_t packets, bytes; /* data received; wire bytes */
	uint64_t resent;         /* packets with an earlier PSN than expected */
	uint64_t last_ns;        /* arrival of the last packet */
	uint64_t nak_ns;         /* time of our last NAK */
	uint32_t watch_psn;      /* arrivals of this PSN are counted */
	uint32_t watch_n;
	uint64_t watch_ns;            /* of the last of them */
	uint64_t gap_ns, gap_from_ns; /* longest time without a packet, and its begin */
	uint64_t n_recent;
	struct curve_point recent[PROBER_RECENT]; /* last times of arrival, a ring */
};

struct prober_cnp {
	uint64_t at_ns;
	uint64_t frame; /* its number among those received */
	uint32_t qp;
	struct roce_view view;
	uint8_t pcp;
	bool tagged, reserved_zero;
};

struct prober_answer {
	uint64_t at_ns;
	uint64_t frame; /* its number among those received */
	uint32_t qp, psn;
	uint8_t syndrome;
};

struct prober_arrival {
	uint64_t at_ns;
	uint32_t qp, psn;
};

/* Rings: entry i of all is at i mod the size. */
#define PROBER_LOG 4096u

struct prober_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint64_t rx_data, rx_answers, rx_cnps, rx_pauses, rx_neighbour;
	uint64_t rx_bad_frame; /* malformed Ethernet or IP */
	uint64_t rx_not_roce;
	uint64_t rx_bad_roce; /* lengths, version, pad */
	uint64_t rx_unknown_opcode;
	uint64_t rx_bad_icrc;
	uint64_t rx_unknown_qp;
	uint64_t rx_wrong_peer;
	uint64_t rx_bad_pause; /* malformed MAC control */
	uint64_t no_mbuf;      /* a frame was not sent: no packet memory */
	uint64_t tx_full;      /* a frame was not sent: too many wait */
};

COUNTER_TABLE(prober_counters);

struct prober;

/* Times of some rounds: the least one is the NIC's. */
struct prober_least {
	uint32_t n;
	bool is_alone; /* nothing else came from the NIC meanwhile, in these rounds */
	double ns, most_ns;
};

struct prober_experiment {
	const char *name;
	/* @return true: finished. */
	bool (*run)(struct prober *p, uint64_t now_ns);
	enum findings_line first, last;
	uint64_t most_ns; /* of answer_ns: it is ended after that many of them */
};

/* Text of prober_trouble(). */
#define PROBER_TROUBLE 144

/*
 * Only the thread that polls the node writes it. Until that thread has ended, others read only the
 * stats, and `current` and `done`, which are atomic.
 */
struct prober {
	struct node node;
	struct prober_params params;
	struct rte_mempool *pool;
	struct prober_stats stats;
	struct findings findings;
	/* sending */
	struct pkt_fifo fifo;
	uint64_t wire_free_ns;
	uint64_t hold_ns;      /* next ACK of held QPs */
	uint64_t reads_ns;     /* next packet of a READ response */
	uint64_t held_packets; /* of held QPs, at the last prober_is_quiet() */
	/* what was seen */
	uint32_t n_qps;
	struct prober_qp qps[PROBER_MAX_QPS];
	struct curve curve; /* of QP 0 */
	double others_ns;   /* time that data of other QPs has taken on the link */
	uint64_t n_cnps, n_answers, n_arrivals, n_pauses;
	struct prober_cnp *cnps;
	struct prober_answer *answers;
	struct prober_arrival *arrivals;
	bool is_heard;        /* a frame of the NIC came for a QP of the prober */
	uint32_t strange_qpn; /* of the last frame for another QP */
	uint8_t paused_prios; /* by the NIC, at any time */
	bool link_paused;
	int strange_opcode; /* of the last RoCE frame with an unknown one; -1 */
	bool knows_peer;
	uint8_t ttl, data_ecn, data_pcp;
	bool df, data_tagged;
	bool unsteady;         /* the rate of QP 0 varies without CNPs */
	bool keeps;            /* the NIC repeats selectively: keep what comes after a gap */
	uint16_t middle_bytes; /* payload of a First or Middle */
	/* how late frames and calls were, in this experiment and those that it builds on */
	uint64_t late_ns;
	uint64_t ever_late_ns; /* in all experiments */
	uint64_t tick_ns;      /* when the next call is due */
	bool pings;            /* the experiment leaves requests to QP 0 to prober_look() */
	bool ping_waits;       /* for its answer */
	uint32_t ping_psn;
	uint64_t ping_ns, next_ping_ns;
	/* the experiment */
	const struct prober_experiment *experiments;
	uint32_t n_experiments, current;
	uint64_t begin_ns, end_ns; /* of the current one; end: its limit */
	uint64_t alarm_ns;
	int resume;
	bool done;
	char trouble[PROBER_TROUBLE]; /* why there is nothing to find; "": there is */
	/* its variables */
	uint32_t i, j, n;
	bool gap_is_naked;
	uint32_t sync_psn, sync_n; /* of PROBE_RESYNC */
	uint64_t sync_mark;
	uint64_t t_ns, t2_ns, mark;
	double a, b, rtt_ns;
	struct prober_least trip; /* round trips */
	struct prober_least least;
	uint64_t frames;      /* received so far, when an answer is waited for */
	double rtt_spread_ns; /* of a NIC without data of its own */
	double y[64];
	uint32_t row_n;       /* CNPs in a row whose cuts were read */
	double row_ns;        /* and their distance */
	uint64_t back_off_ns; /* time over which the rate under CNPs is taken */
	uint64_t cnp_gap_ns;  /* and their distance */
	/* shared by experiments: fitted so far; 0: unknown */
	double line_bps;
	struct recovery_timer timer;
	double stages_ns; /* distance of the first increases, if these are regular; 0: not known */
	double unit_ns;   /* of the distances of a series of CNPs */
	double cnp_delay_ns;        /* from a mark to its CNP, beside the round trip */
	unsigned int kinds;         /* a mask of enum law_kind: laws that alpha leaves */
	bool cuts;                  /* the first CNP slowed QP 0 down */
	double first_ns;            /* from its cut to the first increase */
	double first_alpha;         /* of its cut */
	double last_alpha;          /* at the end of a series, too small for a line; -1: none */
	double other_ns, other_bps; /* first increase after a deeper cut, and the rate until then */
	double quiet_ns, quiet_bps; /* after the first cut, until the first increase */
	double cut_delay_ns;        /* from the first CNP to its cut, beside the round trip */
};

/*
 * The body of an experiment is between PROBER_BEGIN and PROBER_END. PROBER_WAIT returns, and a
 * later call goes on after it, when cond holds or at until_ns. Local variables do not survive.
 */
#define PROBER_BEGIN(p)                                                                            \
	switch ((p)->resume) {                                                                     \
	case 0:
#define PROBER_WAIT(p, cond, until_ns)                                                             \
	do {                                                                                       \
		(p)->alarm_ns = (until_ns);                                                        \
		(p)->resume = __LINE__;                                                            \
		__attribute__((fallthrough));                                                      \
	case __LINE__:                                                                             \
		if (!(cond) && now_ns < (p)->alarm_ns)                                             \
			return false;                                                              \
	} while (0)
#define PROBER_SLEEP(p, for_ns) PROBER_WAIT(p, false, now_ns + (for_ns))
#define PROBER_END(p)                                                                              \
	}                                                                                          \
	return true

/* Kinds of crafted frames. */
#define PROBER_CE 0x1u
#define PROBER_BAD_ICRC 0x2u

/** A request of one packet with PSN psn to a QP of the NIC. */
void prober_send_request(struct prober *p, uint32_t qp, uint32_t psn, uint16_t payload_bytes,
			 unsigned int how, uint64_t now_ns);
/** The next request to a QP. */
void prober_send_next(struct prober *p, uint32_t qp, unsigned int how, uint64_t now_ns);
/** The next request to a QP, as a SEND whatever the verb is. */
void prober_send_message(struct prober *p, uint32_t qp, uint64_t now_ns);
void prober_send_cnp(struct prober *p, uint32_t qp, unsigned int how, uint64_t now_ns);
void prober_send_answer(struct prober *p, uint32_t qp, uint8_t syndrome, uint32_t psn,
			unsigned int how, uint64_t now_ns);
/** PFC for a mask of priorities; prios 0: 802.3x PAUSE. */
void prober_send_pause(struct prober *p, uint8_t prios, uint16_t quanta, uint64_t now_ns);

/**
 * Look how late this call is, and the answer to the last ping. A ping is a request whose round trip
 * is compared with the shortest one.
 */
void prober_look(struct prober *p, uint64_t now_ns);
/** Note how late a frame was. */
void prober_note_late(struct prober *p, uint64_t late_ns);
/** An experiment begins. pings: send a ping now and then. is_apart: forget how late others were. */
void prober_look_anew(struct prober *p, bool pings, bool is_apart, uint64_t now_ns);
/** QP 0 was acknowledged up to acked_psn, or its requests were refused. */
void prober_on_ping_answer(struct prober *p, bool refused, uint64_t now_ns);

/** Queue a frame of m->data_len bytes, or free it if too many wait. */
void prober_push(struct prober *p, struct rte_mbuf *m);

/** Set how a QP answers; a QP that answers again acknowledges all that it has received. */
void prober_set_mode(struct prober *p, uint32_t qp, enum prober_mode mode, uint64_t now_ns);
/** One QP answers, the others are held. */
void prober_only(struct prober *p, uint32_t qp, uint64_t now_ns);

/**
 * Have the held QPs been quiet since the last call? Calls are at least settle_ns apart. Their
 * windows must fill first; then only an ACK now and then lets a packet leave.
 */
bool prober_is_quiet(struct prober *p);

/** A received frame: count it, answer it, keep it. */
void prober_take(struct prober *p, struct rte_mbuf *m, uint64_t now_ns);
/** A packet of data for a READ of the NIC. */
void prober_send_response(struct prober *p, uint32_t qp, const struct prober_read *read,
			  uint64_t now_ns);
/** A READ request in sequence, or one for what was answered before. */
void prober_on_read(struct prober *p, uint32_t qp, const struct roce_view *v, uint64_t now_ns);
/** Send packets of READ responses, if it is time: those of held QPs at long intervals. */
void prober_tend_reads(struct prober *p, uint64_t now_ns);
/** Acknowledge a packet of each held QP, if it is time. */
void prober_tend(struct prober *p, uint64_t now_ns);

/* A request to QP 0 leaves: a ping, if no other one waits. */
static inline void
prober_begin_ping(struct prober *p, uint32_t psn, uint64_t now_ns)
{
	if (p->ping_waits || p->rtt_ns == 0)
		return;
	p->ping_waits = true;
	p->ping_psn = psn;
	p->ping_ns = now_ns;
}

/* The oldest entry of a ring with n entries so far that is there, and not before `since`. */
static inline uint64_t
prober_oldest(uint64_t n, uint64_t since)
{
	return n > PROBER_LOG && n - PROBER_LOG > since ? n - PROBER_LOG : since;
}

/** Wire time of a full frame of data: what a frame may wait for at the NIC's port. */
uint64_t prober_frame_ns(const struct prober *p);
/** Wire time of the shortest frame: by more than that no two answers differ. */
uint64_t prober_least_frame_ns(const struct prober *p);

static inline const struct prober_cnp *
prober_cnp(const struct prober *p, uint64_t i)
{
	return &p->cnps[i % PROBER_LOG];
}

static inline const struct prober_answer *
prober_answer(const struct prober *p, uint64_t i)
{
	return &p->answers[i % PROBER_LOG];
}

static inline const struct prober_arrival *
prober_arrival(const struct prober *p, uint64_t i)
{
	return &p->arrivals[i % PROBER_LOG];
}

/** Look for the longest gap between two packets of a QP, and for a PSN, from now on. */
void prober_watch(struct prober *p, uint32_t qp, uint32_t psn);

/** Longest time between two of its last times of arrival, at most PROBER_RECENT. */
double prober_turn_ns(const struct prober *p, uint32_t qp);

/** Rate of a QP over its last `steps` times of arrival, below PROBER_RECENT; 0: too few. */
double prober_rate_bps(const struct prober *p, uint32_t qp, uint32_t steps);

#endif
