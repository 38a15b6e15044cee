/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on a NIC: its lines, and what was found for each of them. A line has a fixed question
 * (findings_lines): group, name, unit, what a standard or paper says and where. A run adds what was
 * measured, and a verdict.
 *
 * Values are doubles: results of fits, outside the packet path.
 */
#ifndef QUENCH_PROBE_REPORT_FINDINGS_H
#define QUENCH_PROBE_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Lines in the order of the report; the lines of an experiment are adjacent. */
enum findings_line {
	LINE_NP_DELAY,
	LINE_NP_UNMARKED,
	LINE_NP_OPCODE,
	LINE_NP_BECN,
	LINE_NP_ECN,
	LINE_NP_DSCP,
	LINE_NP_PRIO,
	LINE_NP_RESERVED,
	LINE_NP_BTH,
	LINE_NP_DEST_QP,
	LINE_NP_INTERVAL_QP,
	LINE_NP_EACH_MARK,
	LINE_NP_SECOND_MARK,
	LINE_NP_SCOPE,
	LINE_NP_INTERVAL_PAIR,
	LINE_NP_INTERVAL_PORT,
	LINE_NP_MARKED_ACK,
	LINE_NP_MARKED_CNP,
	LINE_NP_BAD_ICRC,
	LINE_RP_BEFORE,
	LINE_RP_AFTER_1,
	LINE_RP_AFTER_2,
	LINE_RP_AFTER_10,
	LINE_RP_AFTER_100,
	LINE_RP_BACK_OFF,
	LINE_RP_ALPHA,
	LINE_RP_RECOVERY,
	LINE_RP_STAGES,
	LINE_RP_TIMER,
	LINE_RP_FAST_STEPS,
	LINE_RP_AI,
	LINE_RP_BYTES,
	LINE_RP_HAI,
	LINE_RP_DECAY,
	LINE_RP_G,
	LINE_RP_K,
	LINE_RP_FLOOR,
	LINE_RP_OTHERS,
	LINE_TR_NAK_DELAY,
	LINE_TR_NAK_PSN,
	LINE_TR_NAK_ONCE,
	LINE_TR_REORDER_1,
	LINE_TR_REORDER_2,
	LINE_TR_REORDER_8,
	LINE_TR_DUPLICATE,
	LINE_TR_BAD_ICRC,
	LINE_TR_RESEND_DELAY,
	LINE_TR_RECOVERY,
	LINE_TR_LOST_ACK,
	LINE_TR_TIMEOUT,
	LINE_TR_BACK_OFF,
	LINE_TR_LAST,
	LINE_TR_LAST_FROM,
	LINE_TR_READ_DELAY,
	LINE_TR_READ_FROM,
	LINE_TR_RNR_WAIT,
	LINE_TR_RNR_NAK,
	LINE_PFC_STOP,
	LINE_PFC_START,
	LINE_PFC_QUANTA,
	LINE_PFC_PRIORITY,
	LINE_PFC_LINK,
	LINE_PFC_SENT,
	LINE_PFC_SENT_PRIOS,
	LINE_PIT_SPORT_RANGE,
	LINE_PIT_SPORT_QP,
	LINE_PIT_TTL,
	LINE_PIT_DF,
	LINE_PIT_ECT,
	LINE_PIT_MTU,
	LINE_PIT_MTU_LONG,
	FINDINGS_LINES
};

enum findings_verdict {
	VERDICT_NOT_RUN, /* its experiment did not run, or stopped before */
	VERDICT_NO_ANSWER,
	VERDICT_NOT_MEASURED, /* frames were too late to tell */
	VERDICT_MEASURED,     /* a figure without right or wrong */
	VERDICT_OK,
	VERDICT_DIFFERS, /* permitted, and other than the paper or most NICs */
	VERDICT_FAULT,   /* against the standard, or congestion control cannot work */
	FINDINGS_VERDICTS
};

/** "not run", "no answer", ... */
const char *findings_verdict_word(enum findings_verdict v);

struct findings_question {
	const char *id;    /* key in the JSON */
	const char *group; /* heading: notification point, reaction point, ... */
	const char *what;
	const char *unit;     /* of the value; "" for none */
	const char *expected; /* what the standard or the paper says */
	const char *source;
	const char *knob;  /* the vendor's name of the parameter; NULL: none */
	double knob_scale; /* knob = value x scale */
};

extern const struct findings_question findings_questions[FINDINGS_LINES];

#define FINDINGS_TEXT 160

struct finding {
	enum findings_verdict verdict;
	bool has_value;
	bool is_new; /* said by the experiment that runs */
	double value;
	char text[FINDINGS_TEXT]; /* what was measured, in words */
};

struct findings {
	struct finding of[FINDINGS_LINES];
};

/** Note what was found; text as printf. A later call replaces it. */
__attribute__((format(printf, 4, 5))) void findings_say(struct findings *f, enum findings_line line,
							enum findings_verdict verdict,
							const char *format, ...);
/** As findings_say(), with a value in the line's unit. */
__attribute__((format(printf, 5, 6))) void findings_set(struct findings *f, enum findings_line line,
							enum findings_verdict verdict, double value,
							const char *format, ...);
/** Lines from first to last get one text. */
void findings_say_all(struct findings *f, enum findings_line first, enum findings_line last,
		      enum findings_verdict verdict, const char *text);
/** Lines from first to last without a finding get "no answer". */
void findings_close(struct findings *f, enum findings_line first, enum findings_line last);

#endif
