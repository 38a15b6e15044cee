/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory runs out at the allocations of an importer, once alone and once with all that follow: it
 * says so, or its output is whole. It never returns with a part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <execinfo.h>
#include <rte_jhash.h>

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

/* What the last conversion wrote: its text, or in short its refusal. */
static char written[1 << 16];
static char whole[sizeof(written)]; /* of the conversion that lacks no memory */

static void
convert(const struct convert *c)
{
	static FILE *out;
	static struct import_log log;
	int rc;

	log = (struct import_log){.file = "in"};
	out = fmemopen(written, sizeof(written), "w");
	assert_non_null(out);
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

/*
 * A conversion whose allocations all succeed. At each of them a child goes on without it, so that
 * what a child leaks ends with it, and nothing is converted twice up to there.
 */
static struct {
	uint64_t in_a_row; /* allocations that a child misses */
	uint64_t allocations, without_memory;
	unsigned int visits[1 << 14]; /* by call stack */
	bool is_child;
	char *childs; /* what a child wrote, shared */
} each;

/* Visits of this call stack. Three are tried, then every tenth. */
static bool
is_tried(void)
{
	void *stack[16];
	const int depth = backtrace(stack, ARRAY_LEN(stack));
	uint32_t at = rte_jhash(stack, (uint32_t)depth * sizeof(stack[0]), 0);
	unsigned int visits = ++each.visits[at % ARRAY_LEN(each.visits)];

	return visits <= 3 || visits % 10 == 0;
}

static bool
fails_in_a_child(void)
{
	pid_t child;
	int status;

	if (!is_tried())
		return false;
	each.childs[0] = '\0';
	child = fork();
	if (child < 0)
		fail_msg("fork: %s", strerror(errno));
	if (child == 0) {
		each.is_child = true;
		failing.asked = NULL;
		failing.left = 0;
		failing.failures = 0;
		failing.most_failures = each.in_a_row;
		return failing_now();
	}
	failing.armed = false;
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("allocation %ju: status %#x", (uintmax_t)each.allocations,
			 (unsigned int)status);
	if (strcmp(each.childs, "no memory") == 0)
		each.without_memory++;
	else if (strcmp(each.childs, whole) != 0)
		fail_msg("allocation %ju: %s", (uintmax_t)each.allocations, each.childs);
	each.allocations++;
	failing.armed = true;
	return false;
}

static void
each_allocation(const struct convert *c, uint64_t in_a_row)
{
	each.in_a_row = in_a_row;
	memset(each.visits, 0, sizeof(each.visits));
	each.allocations = 0;
	each.without_memory = 0;
	failing.asked = fails_in_a_child;
	convert(c);
	if (each.is_child) {
		memcpy(each.childs, written, sizeof(written));
		_exit(0);
	}
	failing.asked = NULL;
	assert_string_equal(written, whole);
	print_message("row %td: %ju of %ju\n", c - rows, (uintmax_t)each.without_memory,
		      (uintmax_t)each.allocations);
	assert_true(each.without_memory > 10);
}

TEST(no_output_is_a_part)
{
	if (!FAILING_WORKS) {
		printf("a sanitizer has its own allocator\n");
		skip();
	}
	each.childs = mmap(NULL, sizeof(written), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(each.childs != MAP_FAILED);
	import_on_no_memory(no_memory);
	is_tried(); /* backtrace() allocates once */
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		convert(&rows[i]);
		if (strncmp(written, "refused", 7) == 0)
			fail_msg("row %u: %s", i, written);
		memcpy(whole, written, sizeof(whole));
		each_allocation(&rows[i], 1);
		each_allocation(&rows[i], UINT64_MAX);
	}
	munmap(each.childs, sizeof(written));
}

TEST_MAIN()
