/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-forward: whole periods of a steady net are left out instead of simulated.
 *
 * A net is steady while all flows that send are in the middle of a message, at a constant rate,
 * without pauses, CNPs, losses, no queue is so long that it marks, and nothing else is due. The run
 * then follows one sender, its reference, for as many packets as it has between two ACKs. If the
 * net is in the same state after them (the transport of all QPs, the lengths of all queues, each
 * frame on each cable within 3 ns), this is a period, and what follows is repetition until a
 * message ends. So messages become shorter by n periods, counters grow by n times what they grew in
 * one, and the time of the run goes ahead of the clock of the nodes, which stands still meanwhile.
 *
 * What is not a period is simulated: rates under DCQCN's cuts, pauses, open loops. They are random,
 * and no state comes again.
 *
 * A state that is the same within 3 ns may still drift: at 800 Gb/s an ACK takes 0.86 ns, and a
 * queue that gets one more than its link can send grows. So times on the wire are compared to the
 * picosecond: hosts whose wire is never idle have the same one in a period, and no port of a switch
 * has a longer one.
 *
 * One of REPLAY_EVERY windows is simulated, with its prediction beside it, and the first one. If
 * they differ by more than 1 % of the packets of a QP, or by a CNP, the rest of the run is
 * simulated.
 */
#ifndef QUENCH_FABRIC_SKIP_FAST_FORWARD_H
#define QUENCH_FABRIC_SKIP_FAST_FORWARD_H

#include "fabric/net/net.h"
#include "fabric/skip/period.h"

/* Why time was simulated. */
enum fast_forward_why {
	/* those of enum nic_unsteady */
	FAST_FORWARD_NO_PERIOD = NIC_UNSTEADY_WHYS, /* no state came again */
	FAST_FORWARD_MARKS,                         /* a queue may mark */
	FAST_FORWARD_ENDS,                          /* less than a period until a message ends */
	FAST_FORWARD_LOOKS,                         /* the period was looked for */
	FAST_FORWARD_REPLAYS,                       /* with a prediction */
	FAST_FORWARD_IDLE,                          /* nobody sends */
	FAST_FORWARD_NEVER,                         /* the scenario, or after a bad replay */
	FAST_FORWARD_WHYS
};

/** In words. */
const char *fast_forward_why_text(enum fast_forward_why why);

struct fast_forward_result {
	uint64_t skipped_ns, simulated_ns;
	uint64_t skips, periods; /* windows left out, and their periods */
	uint64_t replays;        /* windows simulated with a prediction */
	uint64_t replayed_ns;
	uint64_t off_ns; /* by which time the predictions were wrong at their ends, at most */
	struct period_error error; /* sums over them */
	/* of simulated_ns, and how often it began */
	uint64_t why_ns[FAST_FORWARD_WHYS], why_times[FAST_FORWARD_WHYS];
	bool skips_any;    /* the scenario does not exclude it */
	const char *never; /* why nothing is left out from some time on; NULL: no reason */
};

struct fast_forward;

/** Before the run. @return owned by the caller, or NULL: out of memory. */
struct fast_forward *fast_forward_create(struct net *net);
void fast_forward_destroy(struct fast_forward *ff);

/** As fabric_run(), up to a time of the run, which may be ahead of the fabric's clock. */
int fast_forward_run(struct fast_forward *ff, uint64_t until_ns);

const struct fast_forward_result *fast_forward_result(const struct fast_forward *ff);

#endif
