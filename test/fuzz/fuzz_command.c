/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that change keys of a program while it runs, one in a line, as quenchctl sends them:
 * SECTION.KEY=VALUE over what is in force. Each is refused with one line, or the configuration with
 * it prints as a file that reads back, and differs from the one before in no more than what the
 * comparison lists.
 */
#include <string.h>

#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"
#include "fuzz/fuzz.h"

#define MOST_COMMANDS 4
#define COMMAND_BYTES 400

/* Of either role; what the other has is zero. */
struct version {
	struct sw_params sw;
	struct nic_config nic;
};

struct role {
	const char *text; /* what it starts with */
	int (*read)(struct config *cfg, struct version *out, struct config_error *err);
	int (*set)(struct config *cfg, const struct version *now, struct version *out,
		   struct config_error *err);
	void (*print)(const struct version *v, FILE *out);
	void (*rows)(const struct version *v, struct config_rows *rows);
	void (*free)(struct version *v);
};

static int
switch_read(struct config *cfg, struct version *out, struct config_error *err)
{
	return switch_config_read(cfg, &out->sw, err);
}

static int
switch_set(struct config *cfg, const struct version *now, struct version *out,
	   struct config_error *err)
{
	return switch_config_set(cfg, &now->sw, &out->sw, err);
}

static void
switch_print(const struct version *v, FILE *out)
{
	switch_config_print(out, &v->sw);
}

static void
switch_rows(const struct version *v, struct config_rows *rows)
{
	switch_config_rows(&v->sw, rows);
}

static void
switch_free(struct version *v)
{
	sw_tables_free(&v->sw.tables);
}

static int
nic_read(struct config *cfg, struct version *out, struct config_error *err)
{
	return nic_config_read(cfg, NULL, &out->nic, err);
}

static int
nic_set(struct config *cfg, const struct version *now, struct version *out,
	struct config_error *err)
{
	return nic_config_set(cfg, &now->nic, &out->nic, err);
}

static void
nic_print(const struct version *v, FILE *out)
{
	nic_config_print(out, &v->nic);
}

static void
nic_rows(const struct version *v, struct config_rows *rows)
{
	nic_config_rows(&v->nic, rows);
}

static void
nic_free(struct version *v)
{
	nic_config_free(&v->nic);
}

static const struct role roles[] = {
	{"[switch]\nvlan_filtering = on\n[port]\nlink_speed_bps = 40G\n[port 0]\n[port 1]\n"
	 "[wred w]\n[route 10.0.0.0/8]\nnexthop = blackhole\n[router]\nrouter_mac = "
	 "02:00:00:00:00:01\n[interface vlan 1]\nip = 10.1.0.1/24\n",
	 switch_read, switch_set, switch_print, switch_rows, switch_free},
	{"[nic]\nip = 10.0.0.1\nlink_speed_bps = 40G\n[flow a]\npeer_ip = 10.0.0.2\n"
	 "peer_qpn = 17\n[flow b]\npeer_ip = 10.0.0.3\npeer_qpn = 18\nqp_count = 2\n"
	 "message_bytes = 4096\n",
	 nic_read, nic_set, nic_print, nic_rows, nic_free},
};

static void
check_refusal(const struct config_error *err)
{
	FUZZ_CHECK(err->text[0] != '\0' && strchr(err->text, '\n') == NULL);
	FUZZ_CHECK(strlen(err->text) < sizeof(err->text) - 1); /* nothing was cut off */
}

static char *
print(const struct role *role, const struct version *v, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	FUZZ_CHECK(out != NULL);
	role->print(v, out);
	fclose(out);
	return text;
}

/* A text, or with now a command over that. @return false: refused, with one line, and nothing to
 * free. */
static bool
read_text(const struct role *role, const char *text, size_t size, const struct version *now,
	  struct version *out)
{
	struct config_error err = {""};
	struct config *cfg =
		config_open_text("running", now == NULL ? text : "", now == NULL ? size : 0, &err);
	int rc;

	FUZZ_CHECK(cfg != NULL);
	memset(out, 0, sizeof(*out));
	if (now == NULL)
		rc = role->read(cfg, out, &err);
	else
		rc = config_set(cfg, text, &err) != 0 ? -1 : role->set(cfg, now, out, &err);
	if (rc == 0 && (rc = config_finish(cfg, &err)) != 0)
		role->free(out);
	config_close(cfg);
	if (rc != 0)
		check_refusal(&err);
	return rc == 0;
}

static void
count_change(void *arg, const struct config_change *change)
{
	FUZZ_CHECK(change->section[0] != '\0' && strcmp(change->from, change->to) != 0);
	++*(unsigned int *)arg;
}

static unsigned int
compare(const struct role *role, const struct version *a, const struct version *b)
{
	struct config_rows from = {0}, to = {0};
	struct config_error err = {""};
	struct config *cfg = config_open_text("running", "", 0, &err);
	unsigned int n = 0;

	FUZZ_CHECK(cfg != NULL);
	role->rows(a, &from);
	role->rows(b, &to);
	config_rows_compare(&from, &to, count_change, &n);
	if (config_rows_refuse_fixed(cfg, &from, &to, &err) != 0)
		check_refusal(&err);
	config_close(cfg);
	config_rows_free(&from);
	config_rows_free(&to);
	return n;
}

/* One command over what is in force. */
static void
command(const struct role *role, const char *set, struct version *now)
{
	static struct version next, again;
	size_t size = 0, next_size = 0, again_size = 0;
	char *text = print(role, now, &size), *next_text, *again_text;

	if (read_text(role, set, 0, now, &next)) {
		next_text = print(role, &next, &next_size);
		FUZZ_CHECK(read_text(role, next_text, next_size, NULL, &again));
		again_text = print(role, &again, &again_size);
		FUZZ_CHECK(strcmp(next_text, again_text) == 0);
		FUZZ_CHECK(compare(role, &next, &again) == 0);
		FUZZ_CHECK((compare(role, now, &next) == 0) == (strcmp(text, next_text) == 0));
		role->free(&again);
		role->free(now);
		*now = next;
		free(next_text);
		free(again_text);
	}
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct version now;
	const struct role *role;
	char set[COMMAND_BYTES + 1];

	if (len == 0)
		return 0;
	role = &roles[data[0] & 1];
	FUZZ_CHECK(read_text(role, role->text, strlen(role->text), NULL, &now));
	data++;
	len--;
	for (unsigned int i = 0; i < MOST_COMMANDS && len > 0; i++) {
		const uint8_t *end = memchr(data, '\n', len);
		size_t n = end != NULL ? (size_t)(end - data) : len;
		size_t used = n < COMMAND_BYTES ? n : COMMAND_BYTES;

		memcpy(set, data, used);
		set[used] = '\0';
		command(role, set, &now);
		data += end != NULL ? n + 1 : n;
		len -= end != NULL ? n + 1 : n;
	}
	role->free(&now);
	return 0;
}
