/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/report/findings.h"

#include <stdarg.h>
#include <stdio.h>

#define NP "notification point"
#define RP "reaction point"
#define TR "transport"
#define PFC "pause"
#define PIT "pitfalls"
#define SIGCOMM "SIGCOMM 2015, 3.1"
#define ANNEX "IBTA volume 1, annex A17"
#define CHAPTER "IBTA volume 1, 9.7"
#define QBB "IEEE 802.1Q, 36; 802.3, 31B and 31D"

/* Knobs have mlx5's names (debugfs, cc_params). */
const struct findings_question findings_questions[FINDINGS_LINES] = {
	[LINE_NP_DELAY] = {"np_delay", NP, "delay from a CE mark to its CNP", "us",
			   "at once, if no CNP was sent for N", SIGCOMM, NULL, 0},
	[LINE_NP_UNMARKED] = {"np_unmarked", NP, "CNPs without a mark", "CNPs", "none", ANNEX, NULL,
			      0},
	[LINE_NP_OPCODE] = {"np_opcode", NP, "opcode of CNPs", "", "0x81", ANNEX, NULL, 0},
	[LINE_NP_BECN] = {"np_becn", NP, "BECN bit of CNPs", "", "1", ANNEX, NULL, 0},
	[LINE_NP_ECN] = {"np_ecn", NP, "ECN bits of CNPs", "",
			 "ECT(0) or ECT(1), so that switches mark and do not drop", ANNEX, NULL, 0},
	[LINE_NP_DSCP] = {"np_dscp", NP, "DSCP of CNPs", "", "48 by default on most NICs",
			  "mlx5, np_cnp_dscp", "np_cnp_dscp", 1},
	[LINE_NP_PRIO] = {"np_prio", NP, "VLAN priority of CNPs", "",
			  "another one than data's, so that a pause of data does not hold CNPs",
			  SIGCOMM, "np_cnp_prio", 1},
	[LINE_NP_RESERVED] = {"np_reserved", NP, "16 reserved bytes of CNPs", "", "zero", ANNEX,
			      NULL, 0},
	[LINE_NP_BTH] = {"np_bth", NP, "PSN, AckReq, SE, MigReq and P_Key of CNPs", "",
			 "0, 0, 0, 0 and 0xffff", ANNEX, NULL, 0},
	[LINE_NP_DEST_QP] = {"np_dest_qp", NP, "destination QP of CNPs", "",
			     "the QP that sent the marked packet", ANNEX, NULL, 0},
	[LINE_NP_INTERVAL_QP] = {"np_interval_qp", NP,
				 "least interval of CNPs to a QP under constant marks", "us",
				 "N: 50 us in the paper, 0 to 4 us on ConnectX", SIGCOMM,
				 "np_min_time_between_cnps", 1},
	[LINE_NP_EACH_MARK] = {"np_each_mark", NP, "CNPs for 100 marks", "",
			       "one for all marks within N", SIGCOMM, NULL, 0},
	[LINE_NP_SECOND_MARK] = {"np_second_mark", NP, "a single mark within N of a CNP", "us",
				 "a CNP at the end of the interval", SIGCOMM, NULL, 0},
	[LINE_NP_SCOPE] = {"np_scope", NP, "unit whose CNPs are limited", "", "the flow (QP)",
			   SIGCOMM, NULL, 0},
	[LINE_NP_INTERVAL_PAIR] = {"np_interval_pair", NP,
				   "least interval of CNPs to two QPs of one address", "us",
				   "no limit", SIGCOMM, NULL, 0},
	[LINE_NP_INTERVAL_PORT] = {"np_interval_port", NP,
				   "least interval of CNPs to QPs of two addresses", "us",
				   "no limit", SIGCOMM, NULL, 0},
	[LINE_NP_MARKED_ACK] = {"np_marked_ack", NP, "CNPs for marked ACKs", "CNPs", "none",
				"Lumina, SIGCOMM 2023", NULL, 0},
	[LINE_NP_MARKED_CNP] = {"np_marked_cnp", NP, "CNPs for marked CNPs", "CNPs", "none", ANNEX,
				NULL, 0},
	[LINE_NP_BAD_ICRC] = {"np_bad_icrc", NP, "CNPs for marked packets with a wrong ICRC",
			      "CNPs", "none: only valid packets count", ANNEX, NULL, 0},
	[LINE_RP_BEFORE] = {"rp_before", RP, "rate without CNPs", "Gb/s", "line rate", SIGCOMM,
			    NULL, 0},
	[LINE_RP_AFTER_1] = {"rp_after_1", RP, "lowest rate after 1 CNP", "Gb/s",
			     "half of the rate, with alpha = 1", SIGCOMM, NULL, 0},
	[LINE_RP_AFTER_2] = {"rp_after_2", RP, "lowest rate after 2 CNPs", "Gb/s",
			     "a quarter of the rate, with alpha = 1", SIGCOMM, NULL, 0},
	[LINE_RP_AFTER_10] = {"rp_after_10", RP, "lowest rate after 10 CNPs", "Gb/s", "lower",
			      SIGCOMM, NULL, 0},
	[LINE_RP_AFTER_100] = {"rp_after_100", RP, "lowest rate after 100 CNPs", "Gb/s",
			       "lower, down to the floor", SIGCOMM, NULL, 0},
	[LINE_RP_BACK_OFF] = {"rp_back_off", RP, "reaction to CNPs", "", "the QP slows down",
			      SIGCOMM, NULL, 0},
	[LINE_RP_ALPHA] = {"rp_alpha", RP, "alpha at the first CNP, from its cut", "", "1", SIGCOMM,
			   "rp_initial_alpha_value", 1024},
	[LINE_RP_RECOVERY] = {"rp_recovery", RP, "time from a CNP to 95 % of the rate", "us",
			      "4 T, with alpha = 1 and one CNP", SIGCOMM, NULL, 0},
	[LINE_RP_STAGES] = {"rp_stages", RP, "first recovery stages", "",
			    "each T the rate moves half way to its target", SIGCOMM, NULL, 0},
	[LINE_RP_TIMER] = {"rp_timer", RP, "T, time between two increases", "us",
			   "55 us in the paper, 300 us on ConnectX", SIGCOMM, "rp_time_reset", 1},
	[LINE_RP_FAST_STEPS] = {"rp_fast_steps", RP, "F, steps of fast recovery", "",
				"5 in the paper, 1 on ConnectX", SIGCOMM, "rp_threshold", 1},
	[LINE_RP_AI] = {"rp_ai", RP, "R_AI, step of additive increase", "Mb/s",
			"40 Mb/s in the paper, 5 Mb/s on ConnectX", SIGCOMM, "rp_ai_rate", 1},
	[LINE_RP_BYTES] = {"rp_bytes", RP, "B, wire bytes between two increases", "KB",
			   "10 MB in the paper, 2.1 MB on ConnectX", SIGCOMM, "rp_byte_reset",
			   1000.0 / 64},
	[LINE_RP_HAI] = {"rp_hai", RP, "R_HAI, first step of hyper increase", "Mb/s",
			 "more than R_AI; 50 Mb/s on ConnectX", SIGCOMM, "rp_hai_rate", 1},
	[LINE_RP_DECAY] = {"rp_decay", RP, "time constant of alpha's decay", "us",
			   "14080 us in the paper, 205 us on ConnectX", SIGCOMM, NULL, 0},
	[LINE_RP_G] = {"rp_g", RP, "g, weight of a CNP in alpha", "", "1/256 in the paper", SIGCOMM,
		       NULL, 0},
	[LINE_RP_K] = {"rp_k", RP, "K, time between two decays of alpha", "us",
		       "55 us in the paper, 1 us on ConnectX", SIGCOMM, "rp_dce_tcp_rtt", 1},
	[LINE_RP_FLOOR] = {"rp_floor", RP, "lowest rate under constant CNPs", "Mb/s",
			   "1 Mb/s on ConnectX", "mlx5, rp_min_rate", "rp_min_rate", 1},
	[LINE_RP_OTHERS] = {"rp_others", RP, "rate of another QP while one QP gets CNPs", "%",
			    "100 % or more of its rate before", SIGCOMM, NULL, 0},
	[LINE_TR_NAK_DELAY] = {"tr_nak_delay", TR, "delay from a gap to its NAK", "us", "at once",
			       CHAPTER ".5", NULL, 0},
	[LINE_TR_NAK_PSN] = {"tr_nak_psn", TR, "PSN and syndrome of the NAK", "",
			     "the expected PSN, 0x60", CHAPTER ".5", NULL, 0},
	[LINE_TR_NAK_ONCE] = {"tr_nak_once", TR, "NAKs for a gap with 4 packets after it", "NAKs",
			      "1", CHAPTER ".5", NULL, 0},
	[LINE_TR_REORDER_1] = {"tr_reorder_1", TR, "a packet overtaken by 1", "",
			       "NAK: it counts as lost", CHAPTER ".5", NULL, 0},
	[LINE_TR_REORDER_2] = {"tr_reorder_2", TR, "a packet overtaken by 2", "",
			       "NAK: it counts as lost", CHAPTER ".5", NULL, 0},
	[LINE_TR_REORDER_8] = {"tr_reorder_8", TR, "a packet overtaken by 8", "",
			       "NAK: it counts as lost", CHAPTER ".5", NULL, 0},
	[LINE_TR_DUPLICATE] = {"tr_duplicate", TR, "answer to a duplicate request", "",
			       "ACK of the last PSN", CHAPTER ".5", NULL, 0},
	[LINE_TR_BAD_ICRC] = {"tr_bad_icrc", TR, "request with a wrong ICRC", "",
			      "dropped without an answer", ANNEX, NULL, 0},
	[LINE_TR_RESEND_DELAY] = {"tr_resend_delay", TR, "delay from a NAK to the retransmission",
				  "us", "at once", CHAPTER ".5", NULL, 0},
	[LINE_TR_RECOVERY] = {"tr_recovery", TR, "packets sent again after a loss", "",
			      "all from the lost one on (go-back-N), or it alone (selective)",
			      "Lumina, SIGCOMM 2023", NULL, 0},
	[LINE_TR_LOST_ACK] = {"tr_lost_ack", TR, "loss of an ACK that a later one covers",
			      "packets", "nothing is sent again", CHAPTER ".5", NULL, 0},
	[LINE_TR_TIMEOUT] = {"tr_timeout", TR, "time without ACK to a retransmission", "ms",
			     "4.096 us x 2^timeout, up to 4 times that", CHAPTER ".6", NULL, 0},
	[LINE_TR_BACK_OFF] = {"tr_back_off", TR, "second time-out over the first", "",
			      "1; more with adaptive retransmission", "Lumina, SIGCOMM 2023", NULL,
			      0},
	[LINE_TR_LAST] = {"tr_last", TR, "time to the retransmission of a lost last packet", "ms",
			  "4.096 us x 2^timeout, up to 4 times that", CHAPTER ".6", NULL, 0},
	[LINE_TR_LAST_FROM] = {"tr_last_from", TR, "first PSN of that retransmission", "packets",
			       "the lost one", CHAPTER ".5", NULL, 0},
	[LINE_TR_READ_DELAY] = {"tr_read_delay", TR,
				"delay from a gap of READ responses to another request", "us",
				"at once", CHAPTER ".5", NULL, 0},
	[LINE_TR_READ_FROM] = {"tr_read_from", TR, "first PSN of that request", "", "the lost one",
			       CHAPTER ".5", NULL, 0},
	[LINE_TR_RNR_WAIT] = {"tr_rnr_wait", TR, "wait after an RNR NAK with a timer of 5.12 ms",
			      "ms", "5.12 ms or more", CHAPTER ".5", NULL, 0},
	[LINE_TR_RNR_NAK] = {"tr_rnr_nak", TR, "timer of the answer to a SEND without a receive",
			     "ms", "RNR NAK with the time to wait", CHAPTER ".5", NULL, 0},
	[LINE_PFC_STOP] = {"pfc_stop", PFC, "time from a pause frame to the last data", "us",
			   "at most 614.4 ns and a frame after its arrival, up to 10 Gb/s", QBB,
			   NULL, 0},
	[LINE_PFC_START] = {"pfc_start", PFC, "time from XON to the first data", "us", "at once",
			    QBB, NULL, 0},
	[LINE_PFC_QUANTA] = {"pfc_quanta", PFC, "length of a pause of 20000 quanta", "quanta",
			     "20000, each 512 bit times", QBB, NULL, 0},
	[LINE_PFC_PRIORITY] = {"pfc_priority", PFC, "pause of another priority", "", "data goes on",
			       QBB, NULL, 0},
	[LINE_PFC_LINK] = {"pfc_link", PFC, "802.3x PAUSE of the whole link", "",
			   "ignored where PFC is on", QBB, NULL, 0},
	[LINE_PFC_SENT] = {"pfc_sent", PFC,
			   "pause frames from the NIC, 1024 requests at line rate included",
			   "frames", "none while its receiver is fast", "Collie, NSDI 2022", NULL,
			   0},
	[LINE_PFC_SENT_PRIOS] = {"pfc_sent_prios", PFC,
				 "priorities that the NIC pauses when its receiver is slow", "",
				 "that of the requests, and no others", "Collie, NSDI 2022", NULL,
				 0},
	[LINE_PIT_SPORT_RANGE] = {"pit_sport_range", PIT, "UDP source port of data", "",
				  "49152 to 65535, constant per QP", ANNEX, NULL, 0},
	[LINE_PIT_SPORT_QP] = {"pit_sport_qp", PIT, "UDP source ports of different QPs", "ports",
			       "different, so that ECMP spreads QPs", ANNEX, NULL, 0},
	[LINE_PIT_TTL] = {"pit_ttl", PIT, "TTL of data", "", "64 or more", "common practice", NULL,
			  0},
	[LINE_PIT_DF] = {"pit_df", PIT, "Don't Fragment of data (IPv4)", "", "set", ANNEX, NULL, 0},
	[LINE_PIT_ECT] = {"pit_ect", PIT, "ECN bits of data", "",
			  "ECT, else switches drop instead of marking", SIGCOMM, NULL, 0},
	[LINE_PIT_MTU] = {"pit_mtu", PIT, "payload of a full packet", "bytes",
			  "the path MTU of both ends", CHAPTER, NULL, 0},
	[LINE_PIT_MTU_LONG] = {"pit_mtu_long", PIT, "request longer than the MTU", "",
			       "NAK \"invalid request\", or dropped", CHAPTER ".4", NULL, 0},
};

const char *
findings_verdict_word(enum findings_verdict v)
{
	static const char *const words[FINDINGS_VERDICTS] = {
		"not run", "no answer", "not measured", "measured", "ok", "differs", "fault"};

	return words[v];
}

static void
say(struct finding *of, enum findings_verdict verdict, const char *format, va_list args)
{
	of->verdict = verdict;
	of->is_new = true;
	vsnprintf(of->text, sizeof(of->text), format, args);
}

void
findings_say(struct findings *f, enum findings_line line, enum findings_verdict verdict,
	     const char *format, ...)
{
	va_list args;

	f->of[line].has_value = false;
	va_start(args, format);
	say(&f->of[line], verdict, format, args);
	va_end(args);
}

void
findings_set(struct findings *f, enum findings_line line, enum findings_verdict verdict,
	     double value, const char *format, ...)
{
	va_list args;

	f->of[line].has_value = true;
	f->of[line].value = value;
	va_start(args, format);
	say(&f->of[line], verdict, format, args);
	va_end(args);
}

void
findings_say_all(struct findings *f, enum findings_line first, enum findings_line last,
		 enum findings_verdict verdict, const char *text)
{
	for (unsigned int l = first; l <= (unsigned int)last; l++)
		findings_say(f, (enum findings_line)l, verdict, "%s", text);
}

void
findings_close(struct findings *f, enum findings_line first, enum findings_line last)
{
	for (unsigned int l = first; l <= (unsigned int)last; l++)
		if (f->of[l].verdict == VERDICT_NOT_RUN && f->of[l].text[0] == '\0')
			findings_say(f, (enum findings_line)l, VERDICT_NO_ANSWER,
				     "the NIC did not answer in time");
}
