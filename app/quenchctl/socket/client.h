/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to the telemetry socket of a running quench-nic or quench-switch, without EAL: one
 * request at a time, all pages of a reply joined, replies unfolded (unfold.h).
 *
 * Invariant: with limits, a request returns by their deadline, whatever the program does.
 */
#ifndef QUENCH_APP_QUENCHCTL_SOCKET_CLIENT_H
#define QUENCH_APP_QUENCHCTL_SOCKET_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

/* Longest request that a program reads, including the command. */
#define CLIENT_REQUEST_CHARS 900

/* Limits of a reading that must end, whatever the program does. */
struct client_limits {
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC; then the program counts as silent */
	uint64_t most_bytes;  /* in all replies */
	size_t most_rows;     /* of one reply, over all its pages */
	int cancel_fd;        /* readable: cancel; -1: none */
};

struct client {
	int fd; /* -1: not connected */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char program[32]; /* "quench-switch" */
	uint64_t pid;
	/* An error is kept in error[], and printed unless quiet. */
	bool quiet;
	bool silent; /* the last error: the program does not answer */
	char error[1200];
	/* Owned by the user, kept by client_open(); NULL: only 6 s for each reply. */
	const struct client_limits *limits;
	uint64_t received_bytes; /* since client_open(), or since it was last set to 0 */
	size_t reply_bytes;      /* largest reply */
	char *buffer;
};

/**
 * Connect to the socket at path, to the program with this file prefix, or, with neither, to the
 * only program that runs. Programs without shared configuration may have the same prefix: NAME:0 is
 * the first of them, NAME:1 the second.
 *
 * @param c  Zero, except that quiet and limits may be set.
 * @return   0, or an exit code after an error line. Call client_close() in both cases.
 */
int client_open(struct client *c, const char *path, const char *prefix);
void client_close(struct client *c);

/**
 * Ask for all pages of a command, which is without FIRST. A page that does not begin after the
 * previous one is an error. A program that is silent, gone or out of step is not asked again on
 * this connection.
 *
 * @param reply  Set to an object owned by the caller, with the rows of all pages in "rows"; NULL
 *               after an error, so json_decref() is always allowed.
 * @return       0, or an exit code after an error line: APP_BAD_USAGE if the program refused.
 */
int client_ask(struct client *c, const char *command, json_t **reply);

/** The same for at most count first rows of a command with parameters FIRST and COUNT. */
int client_ask_first(struct client *c, const char *path, unsigned int count, json_t **reply);

/** Keep an error, and print it unless quiet. @return rc. */
int client_fail(struct client *c, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** @return the integer of a key of a reply; 0 if there is none, or it is negative. */
static inline uint64_t
client_u64(const json_t *reply, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(reply, key));

	return n > 0 ? (uint64_t)n : 0;
}

#endif
