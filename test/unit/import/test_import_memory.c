/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory runs out at each allocation of an importer, once alone and once with all that follow: it
 * says so, or its output is whole. It never returns with a part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/numbers/array.h"
#include "unit/failing.h"
#include "unit/import/import_test.h"

static jmp_buf at_start;

static void
no_memory(void)
{
	failing.armed = false;
	longjmp(at_start, 1);
}

static int
to_switch(import_fn *fn, const char *text, FILE *out, struct import_log *log)
{
	int rc = fn(text, strlen(text), &imported, log);

	if (rc == 0)
		import_switch_print(out, &imported, log);
	import_switch_free(&imported);
	return rc;
}

static int
from_nxos(const char *text, FILE *out, struct import_log *log)
{
	return to_switch(import_nxos, text, out, log);
}

static int
from_sonic(const char *text, FILE *out, struct import_log *log)
{
	return to_switch(import_sonic, text, out, log);
}

static int
from_mlnx(const char *text, FILE *out, struct import_log *log)
{
	struct nic_config nic;
	int rc = import_mlnx(text, strlen(text), &nic, log);

	if (rc == 0) {
		import_nic_print(out, &nic, log);
		nic_config_free(&nic);
	}
	return rc;
}

static int
to_sonic(const char *text, FILE *out, struct import_log *log)
{
	int rc = import_switch_read(text, strlen(text), &imported, log);

	if (rc == 0) {
		rc = export_sonic(&imported, out, log);
		sw_tables_free(&imported.sw.tables);
	}
	return rc;
}

static const struct convert {
	int (*fn)(const char *text, FILE *out, struct import_log *log);
	const char *text;
} rows[] = {
	{from_nxos, "class-map type qos match-all roce\n"
		    "  match dscp 26\n"
		    "policy-map type qos in\n"
		    "  class roce\n"
		    "    set qos-group 3\n"
		    "interface Ethernet1/1\n"
		    "  priority-flow-control mode on\n"
		    "  service-policy type qos input in\n"
		    "  spanning-tree port type edge\n"},
	{from_sonic, "{\"PORT\": {\"Ethernet0\": {\"speed\": \"100000\", \"alias\": \"one\"},"
		     " \"Ethernet4\": {\"speed\": \"100000\", \"alias\": \"two\"}},"
		     " \"SCHEDULER\": {\"s\": {\"type\": \"DWRR\", \"weight\": \"40\"}},"
		     " \"QUEUE\": {\"Ethernet0|3\": {\"scheduler\": \"s\"}},"
		     " \"BUFFER_POOL\": {\"p\": {\"type\": \"ingress\", \"mode\": \"dynamic\","
		     " \"size\": \"12766208\"}},"
		     " \"BUFFER_PROFILE\": {\"b\": {\"pool\": \"p\", \"size\": \"0\","
		     " \"dynamic_th\": \"0\"}}}"},
	{from_mlnx, "RPG_AI_RATE_P1 5\nRPG_GD_P1 11\nOF_ANOTHER 3\n"},
	/* Without the 64 equal steps of a DSCP map. */
	{to_sonic, "[qos_map]\ntrust = pcp\n[port 0]\nlink_speed_bps = 100G\n[port 1]\n"
		   "link_speed_bps = 40G\n"},
};

/* What the last attempt wrote: its text, or in short its refusal. */
static char written[1 << 16];

static void
attempt(const struct convert *c, uint64_t at, uint64_t in_a_row)
{
	static FILE *out;
	static struct import_log log;
	int rc;

	log = (struct import_log){.file = "in"};
	memset(written, 0, sizeof(written));
	out = fmemopen(written, sizeof(written), "w");
	assert_non_null(out);
	failing.left = at;
	failing.failures = 0;
	failing.most_failures = in_a_row;
	if (setjmp(at_start) != 0) {
		fclose(out);
		strcpy(written, "no memory");
		return;
	}
	failing.armed = true;
	rc = c->fn(c->text, out, &log);
	failing.armed = false;
	fclose(out);
	if (rc != 0)
		snprintf(written, sizeof(written), "refused: %s", log.error);
	import_log_free(&log);
}

/* Attempts of one process, which leaves what they leaked to the system: 2 MB for each. */
#define ATTEMPTS 50

/* Of one row, shared by the processes. */
static struct progress {
	uint64_t at, ends;
	bool done, is_wrong;
	char written[sizeof(written)];
} * progress;

static void
attempts(const struct convert *c, uint64_t in_a_row, const char *whole)
{
	for (unsigned int i = 0; i < ATTEMPTS && !progress->done; i++) {
		attempt(c, progress->at, in_a_row);
		if (strcmp(written, "no memory") == 0)
			progress->ends++;
		else if (strcmp(written, whole) != 0) {
			progress->is_wrong = true;
			memcpy(progress->written, written, sizeof(written));
			return;
		}
		progress->at++;
		progress->done = failing.failures == 0;
	}
}

static void
each_attempt(unsigned int row, uint64_t in_a_row, const char *whole)
{
	*progress = (struct progress){0};
	while (!progress->done) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			attempts(&rows[row], in_a_row, whole);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status != 0)
			fail_msg("row %u, allocation %ju: status %#x", row, (uintmax_t)progress->at,
				 (unsigned int)status);
		if (progress->is_wrong)
			fail_msg("row %u, allocation %ju: %s", row, (uintmax_t)progress->at,
				 progress->written);
	}
	print_message("row %u: %ju of %ju\n", row, (uintmax_t)progress->ends,
		      (uintmax_t)progress->at);
	assert_true(progress->ends > 10);
}

TEST(no_output_is_a_part)
{
	static char whole[sizeof(written)];

	if (!FAILING_WORKS) {
		printf("a sanitizer has its own allocator\n");
		skip();
	}
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_true(progress != MAP_FAILED);
	import_on_no_memory(no_memory);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		attempt(&rows[i], 0, 0);
		if (strncmp(written, "refused", 7) == 0)
			fail_msg("row %u: %s", i, written);
		memcpy(whole, written, sizeof(whole));
		each_attempt(i, 1, whole);
		each_attempt(i, UINT64_MAX, whole);
	}
	munmap(progress, sizeof(*progress));
}

TEST_MAIN()
