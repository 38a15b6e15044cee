/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/device_claim.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "runtime/device/device_args.h"
#include "runtime/notice/listener.h"
#include "runtime/notice/say.h"

/* The user of the services in share/systemd. */
#define SERVICE_USER "quench"

/*
 * Any local user can bind the name of a claim. Only root, this program's user and the user of the
 * services are believed to use it.
 */
static bool
is_trusted(uid_t uid)
{
	const struct passwd *service = getpwnam(SERVICE_USER);

	return uid == 0 || uid == geteuid() || (service != NULL && uid == service->pw_uid);
}

/* What is claimed: the kind is part of the claim's name, the words are those of messages. */
struct claimed {
	const char *kind, *name;
	const char *own;    /* the name among devices of this program; NULL: the same */
	const char *device; /* that uses it */
	char words[160];
};

/* What devices of this program have claimed. */
struct ours {
	struct ours *next;
	const char *device;
	char name[]; /* with the kind, or their own */
};

static struct ours *ours;

/* @return -EBUSY after an error line: another device of this program uses it. */
static int
judge_ours(const struct claimed *c, const char *name)
{
	const struct ours *o = ours;

	while (o != NULL && strcmp(o->name, name) != 0)
		o = o->next;
	if (o == NULL || o->device == c->device)
		return 0;
	say_error("%s is in use by %.*s, too: expected one of one device alone", c->words,
		  (int)strcspn(o->device, ","), o->device);
	return -EBUSY;
}

/* Without memory for it, it is not known. */
static void
keep_ours(const struct claimed *c, const char *name)
{
	struct ours *o = malloc(sizeof(*o) + strlen(name) + 1);

	if (o == NULL)
		return;
	o->device = c->device;
	strcpy(o->name, name);
	o->next = ours;
	ours = o;
}

/* @return -EBUSY after an error line, or 0 after a warning: the holder is not believed. */
static int
judge(const struct claimed *c, const struct listener *holder)
{
	if (!is_trusted(holder->uid)) {
		say_warning("%s is claimed by %s (pid %d) of user %u, who is not believed to use "
			    "it: expected root, the user of this program, or " SERVICE_USER
			    "; it is used without a claim",
			    c->words, holder->program, holder->pid, holder->uid);
		return 0;
	}
	say_error("%s is in use by %s (pid %d): expected one of this program alone", c->words,
		  holder->program, holder->pid);
	return -EBUSY;
}

static int
claim(const struct claimed *c)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	/* The name begins after a zero, and ends with the length. */
	int n = snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "quench/%s/%.64s", c->kind,
			 c->name);
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const char *name = addr.sun_path + 1;
	struct listener other;
	bool taken;

	if (judge_ours(c, c->own != NULL ? c->own : name) != 0)
		return -EBUSY;
	keep_ours(c, c->own != NULL ? c->own : name);
	/* The descriptor stays open for the life of the process. */
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&addr, bytes) == 0 && listen(fd, 1) == 0)
		return 0;
	/* It may have ended since. */
	taken = errno == EADDRINUSE && listener_find(&addr, bytes, &other) && other.pid != getpid();
	if (fd >= 0)
		close(fd);
	return taken ? judge(c, &other) : 0;
}

/* A claim's name for a text of any length. */
static void
hash_text(const char *text, char name[17])
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (; *text != '\0'; text++)
		hash = (hash ^ (uint8_t)*text) * 1099511628211u;
	snprintf(name, 17, "%016" PRIx64, hash);
}

static int
claim_interface(const char *device, const char *kind, const char *word, const char *name)
{
	struct claimed c = {.kind = kind, .name = name, .device = device};

	snprintf(c.words, sizeof(c.words), "%s %.64s", word, name);
	return claim(&c);
}

/* A capture file that is written. Devices such as /dev/null have any number of writers. */
static int
claim_file(const char *device, const char *path)
{
	char real[PATH_MAX], folder[PATH_MAX], name[17];
	struct claimed c = {.kind = "file", .name = name, .device = device};
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	/*
	 * Of a file that does not exist yet, glibc has the name, without links, nevertheless; if
	 * its folder does not exist, that of the folder.
	 */
	snprintf(folder, sizeof(folder), "%s", path);
	if (realpath(path, real) == NULL && (errno != ENOENT || stat(dirname(folder), &st) != 0))
		return 0; /* the device does not start */
	hash_text(real, name);
	snprintf(c.words, sizeof(c.words), "file %.100s", path);
	return claim(&c);
}

/*
 * A program that serves has the socket alone, and each device of it an ID. Of clients, each ID has
 * one.
 */
static int
claim_memif(const char *device, const char *args)
{
	char path[PATH_MAX] = "/run/memif.sock", role[8] = "client", end[PATH_MAX + 32], name[17],
	     own[17];
	struct claimed c = {.kind = "memif", .name = name, .own = own, .device = device};
	uint32_t id = device_args_number(args, "id", 0);
	bool serves;

	(void)device_args_text(args, "socket", path, sizeof(path));
	(void)device_args_text(args, "role", role, sizeof(role));
	serves = strcmp(role, "server") == 0 || strcmp(role, "master") == 0;
	if (serves)
		snprintf(end, sizeof(end), "server %s", path);
	else
		snprintf(end, sizeof(end), "client %" PRIu32 " %s", id, path);
	hash_text(end, name);
	snprintf(end, sizeof(end), "%s %" PRIu32 " %s", serves ? "server" : "client", id, path);
	hash_text(end, own);
	snprintf(c.words, sizeof(c.words), "role=%s, id=%" PRIu32 " of memif socket %.100s",
		 serves ? "server" : "client", id, path);
	return claim(&c);
}

/* Claim what KEY=VALUE of a device names. */
static int
claim_argument(const char *device, const char *key, const char *value)
{
	static const char *const interfaces[] = {"iface", "rx_iface", "tx_iface", "rx_iface_in"};
	bool tap = strncmp(device, "net_tap", strlen("net_tap")) == 0;

	if (strcmp(key, "tx_pcap") == 0)
		return claim_file(device, value);
	for (unsigned int i = 0; i < ARRAY_LEN(interfaces); i++)
		if (strcmp(key, interfaces[i]) == 0)
			return claim_interface(device, tap ? "tap" : "interface",
					       tap ? "tap interface" : "interface", value);
	return 0;
}

int
device_claim(const char *device)
{
	static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_pcap", "net_tap"};
	const char *args = strchr(device, ',');
	char key[32], value[PATH_MAX];
	bool is_ours = false;
	int rc = 0;

	if (strncmp(device, "net_memif", strlen("net_memif")) == 0)
		return claim_memif(device, args == NULL ? NULL : args + 1);
	for (unsigned int i = 0; i < ARRAY_LEN(drivers); i++)
		is_ours |= strncmp(device, drivers[i], strlen(drivers[i])) == 0;
	while (is_ours && rc == 0 && args != NULL) {
		if (sscanf(args + 1, "%31[^=,]=%4095[^,]", key, value) == 2)
			rc = claim_argument(device, key, value);
		args = strchr(args + 1, ',');
	}
	return rc;
}
