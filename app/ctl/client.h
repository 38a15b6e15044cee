/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to the telemetry socket of a running quench-nic or quench-switch, without EAL: one
 * request at a time, pages followed to their end, replies unfolded (ctl/unfold.h).
 */
#ifndef QUENCH_APP_CTL_CLIENT_H
#define QUENCH_APP_CTL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

struct client {
	int fd; /* -1: not connected */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char program[32]; /* "quench-switch" */
	uint64_t pid;
	/* An error is kept in error[], and said in a line unless quiet. */
	bool quiet;
	char error[1200];
	size_t reply_bytes; /* the longest */
	char *buffer;
};

/**
 * Connect to the socket at path, or of the program with this file prefix; or, with neither, to the
 * only program that runs. Programs without shared configuration may have one prefix: NAME:0 is the
 * first of them, NAME:1 the second.
 *
 * @param c  Zero, or with quiet set.
 * @return   0, or an exit code after an error line. client_close() in any case.
 */
int client_open(struct client *c, const char *path, const char *prefix);
void client_close(struct client *c);

/**
 * Ask for all pages of a command.
 *
 * @param reply  Set to one object, the caller's; rows of all pages in "rows".
 * @return       0, or an exit code after an error line: APP_BAD_USAGE when the program refused.
 */
int client_ask(struct client *c, const char *command, json_t **reply);

/** Ask for the first rows, count of them or less, of a command with parameters FIRST and COUNT. */
int client_ask_first(struct client *c, const char *path, unsigned int count, json_t **reply);

#endif
