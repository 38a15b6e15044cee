/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to the telemetry socket of a running quench-nic or quench-switch, without EAL: one
 * request at a time, pages followed to their end, replies unfolded (unfold.h).
 */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_CLIENT_H
#define QUENCH_APP_QUENCHCTL_SOCKET_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

/* Bounds on what a connection may cost: of a reading that must end, whatever the program does. */
struct client_limits {
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC; after it the program counts as silent */
	uint64_t most_bytes;  /* in all replies */
	size_t most_rows;     /* of one reply, over all its pages */
	int cancel_fd;        /* readable: give up at once; -1: none */
};

struct client {
	int fd; /* -1: not connected */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char program[32]; /* "quench-switch" */
	uint64_t pid;
	/* An error is kept in error[], and said in a line unless quiet. */
	bool quiet;
	bool silent; /* the last error is that the program does not answer */
	char error[1200];
	/* The user's, kept over client_open(); NULL: 6 s for each reply, and no other bound. */
	const struct client_limits *limits;
	uint64_t received_bytes; /* since client_open(), or since it was last set to 0 */
	size_t reply_bytes;      /* the longest */
	char *buffer;
};

/** CLOCK_MONOTONIC, for a deadline. */
uint64_t client_now_ns(void);

/**
 * Connect to the socket at path, or of the program with this file prefix; or, with neither, to the
 * only program that runs. Programs without shared configuration may have one prefix: NAME:0 is the
 * first of them, NAME:1 the second.
 *
 * @param c  Zero, or with quiet and limits set.
 * @return   0, or an exit code after an error line. client_close() in any case.
 */
int client_open(struct client *c, const char *path, const char *prefix);
void client_close(struct client *c);

/**
 * Ask for all pages of a command. Each page begins after the one before it, else the reply is an
 * error. A program that is silent, gone or out of step is not asked again on this connection.
 *
 * @param reply  Set in any case: to one object, the caller's, with the rows of all pages in "rows";
 *               or to NULL after an error, so that json_decref() of it is always right.
 * @return       0, or an exit code after an error line: APP_BAD_USAGE when the program refused.
 */
int client_ask(struct client *c, const char *command, json_t **reply);

/** The same for the first rows, count of them or less, of a command with parameters FIRST and
 * COUNT. */
int client_ask_first(struct client *c, const char *path, unsigned int count, json_t **reply);

#endif
