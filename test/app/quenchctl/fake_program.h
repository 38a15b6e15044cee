/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A telemetry socket whose other end is a test: a quench-switch or quench-nic that ends, hangs,
 * dawdles or lies at any message.
 */
#ifndef QUENCH_TEST_APP_QUENCHCTL_FAKE_PROGRAM_H
#define QUENCH_TEST_APP_QUENCHCTL_FAKE_PROGRAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/numbers/array.h"

#define FAKE_REPLY_BYTES 16384
#define FAKE_PAGES 3u
#define FAKE_CONNECTIONS 1024u

struct fake_program {
	char folder[64], path[108];
	const char *name;
	/* The reply to a command in place of fake_reply(); NULL: none other. */
	void (*reply)(struct fake_program *p, const char *command, char *text, size_t size);
	const char *hello;
	atomic_int end_at;   /* the message in place of which it hangs up; -1: none */
	atomic_bool hangs;   /* it says nothing any more */
	atomic_int messages; /* hellos and replies that were sent */
	int fd;
	atomic_bool ending;
	pthread_t thread;
	pthread_mutex_t lock;
	int connections[FAKE_CONNECTIONS];
	pthread_t threads[FAKE_CONNECTIONS];
	unsigned int n;
};

/* The number behind the first comma: FIRST of a paged command. */
static inline unsigned long
fake_first(const char *command)
{
	const char *comma = strchr(command, ',');

	return comma != NULL ? strtoul(comma + 1, NULL, 10) : 0;
}

/* FAKE_PAGES pages of a row of every list; what is no list is {}. */
static inline void
fake_reply(const struct fake_program *p, const char *command, char *text, size_t size)
{
	static const char *const paged[] = {"counters", "gauges", "ports", "ecn", "drops",
					    "pfc",      "pfcwd",  "flows", "qps"};
	int path_chars = (int)strcspn(command, ",");
	unsigned long first = fake_first(command);

	if (strcmp(command, "/quench/info") == 0) {
		snprintf(text, size,
			 "{\"/quench/info\":{\"program\":\"%s\",\"ports\":2,\"flows\":3,\"qps\":3,"
			 "\"elapsed_ns\":5}}",
			 p->name);
		return;
	}
	if (strncmp(command, "/quench/trace,", 14) == 0) {
		first = strtoul(strrchr(command, ',') + 1, NULL, 10);
		snprintf(text, size,
			 "{\"/quench/trace\":{\"trace\":7,\"traced\":1,\"first\":%lu,\"end\":%lu,"
			 "\"written\":%u,\"time_ns\":[%lu]}}",
			 first, first + 1, FAKE_PAGES, first);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(paged); i++) {
		if (strncmp(command + 8, paged[i], (size_t)path_chars - 8) != 0 ||
		    strlen(paged[i]) != (size_t)path_chars - 8)
			continue;
		snprintf(
			text, size,
			"{\"%.*s\":{\"port\":[%lu],\"object\":[\"port\"],\"name\":[\"rx_packets\"],"
			"\"help\":[\"packets\"],\"rx_packets\":[%lu]%s%.0lu}}",
			path_chars, command, first, 100 + first,
			first + 1 < FAKE_PAGES ? ",\"next\":" : "",
			first + 1 < FAKE_PAGES ? first + 1 : 0);
		return;
	}
	snprintf(text, size, "{\"%.*s\":{}}", path_chars, command);
}

static inline bool
fake_send(struct fake_program *p, int fd, const char *text)
{
	if (atomic_load(&p->end_at) == atomic_load(&p->messages))
		return false;
	while (atomic_load(&p->hangs) && !atomic_load(&p->ending))
		usleep(1000);
	atomic_fetch_add(&p->messages, 1);
	return send(fd, text, strlen(text), MSG_NOSIGNAL) > 0;
}

struct fake_connection {
	struct fake_program *p;
	int fd;
};

static inline void *
fake_serve(void *arg)
{
	struct fake_connection c = *(struct fake_connection *)arg;
	char command[1024], *text = malloc(1 << 21);
	bool goes_on = fake_send(c.p, c.fd, c.p->hello);
	ssize_t n;

	free(arg);
	while (goes_on && (n = recv(c.fd, command, sizeof(command) - 1, 0)) > 0) {
		command[n] = '\0';
		if (c.p->reply != NULL)
			c.p->reply(c.p, command, text, 1 << 21);
		else
			fake_reply(c.p, command, text, 1 << 21);
		goes_on = fake_send(c.p, c.fd, text);
	}
	shutdown(c.fd, SHUT_RDWR);
	free(text);
	return NULL;
}

static inline void *
fake_accept(void *arg)
{
	struct fake_program *p = arg;
	int fd;

	while (p->n < FAKE_CONNECTIONS && (fd = accept(p->fd, NULL, NULL)) >= 0) {
		struct fake_connection *c = malloc(sizeof(*c));

		*c = (struct fake_connection){p, fd};
		pthread_mutex_lock(&p->lock);
		p->connections[p->n] = fd;
		pthread_create(&p->threads[p->n++], NULL, fake_serve, c);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

/* name: "quench-switch" or "quench-nic". */
static inline void
fake_start(struct fake_program *p, const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	*p = (struct fake_program){.name = name,
				   .hello = "{\"pid\":1,\"max_output_len\":16384}",
				   .lock = PTHREAD_MUTEX_INITIALIZER,
				   .end_at = -1};
	snprintf(p->folder, sizeof(p->folder), "/tmp/quench-fake-XXXXXX");
	if (mkdtemp(p->folder) == NULL)
		abort();
	snprintf(p->path, sizeof(p->path), "%.63s/dpdk_telemetry.v2", p->folder);
	memcpy(addr.sun_path, p->path, sizeof(addr.sun_path));
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (bind(p->fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    listen(p->fd, 10) != 0 || pthread_create(&p->thread, NULL, fake_accept, p) != 0)
		abort();
}

static inline void
fake_stop(struct fake_program *p)
{
	atomic_store(&p->ending, true);
	shutdown(p->fd, SHUT_RDWR);
	pthread_join(p->thread, NULL);
	for (unsigned int i = 0; i < p->n; i++) {
		shutdown(p->connections[i], SHUT_RDWR);
		pthread_join(p->threads[i], NULL);
		close(p->connections[i]);
	}
	close(p->fd);
	unlink(p->path);
	rmdir(p->folder);
}

#endif
