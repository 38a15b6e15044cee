/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs whose ranks run here (ctl/nic_config/nic_job.h): they are put on the node at the start, and
 * watched by the main lcore. Their results are those of the ranks here.
 *
 * A job that is started fails if a QP gives up that one of its ranks needs: one that carries
 * messages, or the one that asks whether a rank is alive, while a rank here waits for that one. It
 * fails, too, if a peer says another digest of the job. A rank that has not begun has lost nothing:
 * it asks again, so a peer may be late (job_question.h).
 */
#ifndef QUENCH_APP_QUENCH_NIC_JOBS_JOBS_H
#define QUENCH_APP_QUENCH_NIC_JOBS_JOBS_H

#include <stdio.h>

#include "base/field/walk.h"
#include "ctl/nic_config/nic_job.h"
#include "quench-nic/flows/flow_registry.h"
#include "quench-nic/jobs/job_question.h"
#include "quench-nic/nodes/nodes.h"

#define JOB_WHY_CHARS 256

/* A rank that runs here. */
struct job_rank_here {
	uint32_t rank;
	uint32_t index; /* on the node */
	/* of the pairs in which it sends, in their order; owned */
	struct job_posts {
		struct workload_posts posts;
		struct workload_post *ring;
	} * posts;
	uint32_t n_posts;
};

struct job_here {
	struct nic_job job; /* as at start-up; its plan is held */
	uint32_t number;    /* of the job, from 1 on */
	struct job_rank_here *ranks;
	uint32_t n_ranks;
	uint32_t said; /* iterations of which a line was printed: all, or none */
	/* why it failed, empty: it has not; written once, before has_failed */
	char why[JOB_WHY_CHARS];
	bool has_failed;
	bool was_reset; /* not looked at since */
	bool waits; /* its ranks begin when the job is started: they were reset, or it never was */
	bool runs;  /* all of its questions are in_run */
	bool said_late; /* that its start waits for a peer that does not answer */
	/* flow that asks the rank that has another job, and says ours; JOB_NONE: none has */
	uint32_t tells;
};

struct jobs {
	struct nic_nodes *nodes;
	struct flow_registry *registry;
	struct job_here *of; /* those with ranks here */
	uint32_t n;
	struct job_question *questions; /* by flow of jobs */
	uint32_t next_asked; /* flow: those from here on have waited longest to be asked again */
	uint64_t now_ns;     /* at the last look */
	uint64_t epoch_ns;   /* time 0 of the node, by a clock that the machine's programs share */
	uint64_t link_bps;   /* of the NIC */
	uint64_t linger_ns;  /* how long to answer after the end */
	uint64_t ended_ns;   /* when all had ended here; 0: not yet */
	bool done;           /* and linger_ns have passed since */
	bool told;           /* ranks that have another job know it, or are gone */
};

/**
 * Before nic_version_begin() of the first configuration: room for the messages of its jobs, which
 * its flows then refer to.
 * @return 0, or an exit code after an error line. Call jobs_close() in both cases.
 */
int jobs_open(struct jobs *jobs, struct nic_nodes *nodes, struct flow_registry *registry,
	      struct nic_config *config);
/** After it: put the ranks on the node. @return as jobs_open(). */
int jobs_begin(struct jobs *jobs);
/** When no lcore polls any more. */
void jobs_close(struct jobs *jobs);

/** Print a line for each job of which ranks run here. */
void jobs_say(const struct jobs *jobs);

/* Main lcore. */

/** Look for jobs that have ended or failed, and say so. Call it periodically. */
void jobs_watch(struct jobs *jobs, const struct nic_config *config, uint64_t now_ns);
/** Have all jobs ended here, and had the peers time to request lost ACKs? Or has one failed? */
bool jobs_are_done(const struct jobs *jobs);
bool jobs_have_failed(const struct jobs *jobs);
/** QPs that gave up, and that no rank needs. */
uint32_t jobs_unneeded_qps(const struct jobs *jobs, const struct nic_config *config);

/*
 * A reset of a job by its number: first its flows, then each of its ranks here, one at a time
 * (nic_job_restart_is_done()), then its result.
 */
uint32_t jobs_ranks(const struct jobs *jobs, uint32_t number);
void jobs_restart_rank(struct jobs *jobs, uint32_t number, uint32_t k);
void jobs_restarted(struct jobs *jobs, uint32_t number);

/* Results, from any thread while the registry lives. */

static inline bool
job_has_failed(const struct job_here *here)
{
	return __atomic_load_n(&here->has_failed, __ATOMIC_ACQUIRE);
}

/** The values of job i; jobs is NULL with names_only. */
void jobs_walk(struct walk *w, const struct jobs *jobs, uint32_t i,
	       const struct nic_config *config);
/** The list jobs: all of them, with their ranks here. */
void jobs_walk_all(struct walk *w, const struct jobs *jobs, const struct nic_config *config);
void jobs_table(const struct jobs *jobs, FILE *out);
/** Write DIR/jobs.csv. @return 0 or an exit code after an error line. */
int jobs_csv(const struct jobs *jobs, const char *dir);

#endif
