/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "job/goal.h"

static int
read_text(const char *text, struct job_graph *g, struct job_fault *fault)
{
	return goal_read(text, strlen(text), 0, g, fault);
}

TEST(operations_tags_streams_and_demands_are_read)
{
	static const char text[] = "// made by hand\n"
				   "num_ranks 2 /* two\n"
				   "lines */ rank 1 {\r\n"
				   "a: recv 8192b from 0 tag 7 cpu 1 nic 2\n"
				   "}\n"
				   "rank 0 {\n"
				   "l0: calc 5000 cpu 3\n"
				   "l1: send 8192b to 1 tag 7\n"
				   "calc 0\n"
				   "l1 requires l0 # and\n"
				   "l0 irequires l2\n"
				   "l2: calc 1\n"
				   "}\n";
	static const char *const texts[] = {"calc 5000", "send 8192b to 1 tag 7", "calc 0",
					    "calc 1"};
	struct job_fault fault;
	struct job_graph g;
	char op[64];

	assert_int_equal(read_text(text, &g, &fault), 0);
	assert_int_equal(g.n_ranks, 2);
	assert_int_equal(g.ranks[0].n_ops, ARRAY_LEN(texts));
	for (uint32_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_string_equal(job_op_text(&g.ranks[0], i, op), texts[i]);
	assert_string_equal(job_op_text(&g.ranks[1], 0, op), "recv 8192b from 0 tag 7");
	assert_int_equal(g.ranks[0].ops[0].stream, 3);
	assert_int_equal(g.ranks[1].ops[0].stream, 0);
	assert_int_equal(g.ranks[0].lines[1], 8);
	assert_int_equal(g.ranks[1].lines[0], 4);
	/* l0 waits for the start of l2, l1 for the end of l0. */
	assert_int_equal(g.ranks[0].waits[0], 1);
	assert_int_equal(g.ranks[0].waits[1], 1);
	assert_int_equal(g.ranks[0].first[1] - g.ranks[0].first[0], 0);
	assert_int_equal(g.ranks[0].first[2] - g.ranks[0].first[1], 1);
	assert_int_equal(g.ranks[0].wakes[g.ranks[0].first[1]], 1);
	assert_int_equal(g.ranks[0].first[7] - g.ranks[0].first[6], 1);
	assert_int_equal(g.ranks[0].wakes[g.ranks[0].first[6]], 0);
	job_graph_free(&g);
}

TEST(what_is_wrong_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why;
	} rows[] = {
		{"", 1, "\"num_ranks\", not the end"},
		{"rank 0 { }", 1, "\"num_ranks\", not \"rank\""},
		{"num_ranks 0\n", 1, "1 rank or more"},
		{"num_ranks 65537\n", 1, "from 0 to 65536"},
		{"num_ranks 99999999999999999999\n", 1, "from 0 to 65536"},
		{"num_ranks 2\nrank 0 {\n}\n", 4, "rank 1 is missing"},
		{"num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", 4, "each rank once"},
		{"num_ranks 1\nrank 1 {\n}\n", 2, "a rank from 0 to 0, not \"1\""},
		{"num_ranks 1\nrank 0 {\n", 3, "\"}\" at the end"},
		{"num_ranks 1\nrank 0\ncalc 1\n", 3, "\"{\", not \"calc\""},
		{"num_ranks 1\nrank 0 {\ncalc\n}\n", 4, "nanoseconds from 0"},
		{"num_ranks 1\nrank 0 {\ncalc 70368744177664\n}\n", 3, "nanoseconds from 0"},
		{"num_ranks 1\nrank 0 {\ncalc 5 cpu 256\n}\n", 3, "a cpu from 0 to 255"},
		{"num_ranks 1\nrank 0 {\na: wait 5\n}\n", 3, "calc, send or recv, not \"wait\""},
		{"num_ranks 1\nrank 0 {\na calc 5\n}\n", 3, "requires or irequires"},
		{"num_ranks 1\nrank 0 {\na: calc 5\na: calc 6\n}\n", 0, "each label once"},
		{"num_ranks 1\nrank 0 {\na: calc 5\na requires b\n}\n", 4,
		 "a label of this rank, not \"b\""},
		{"num_ranks 1\nrank 0 {\na: calc 5\na requires 5\n}\n", 4, "a label, not \"5\""},
		{"num_ranks 2\nrank 0 {\nsend 8 to 1\n}\n", 3, "\"b\", not \"to\""},
		{"num_ranks 2\nrank 0 {\nsend 0b to 1\n}\n", 3, "1 byte or more"},
		{"num_ranks 2\nrank 0 {\nsend 2147483649b to 1\n}\n", 3,
		 "bytes from 0 to 2147483648"},
		{"num_ranks 2\nrank 0 {\nsend 8b from 1\n}\n", 3, "\"to\", not \"from\""},
		{"num_ranks 2\nrank 0 {\nrecv 8b to 1\n}\n", 3, "\"from\", not \"to\""},
		{"num_ranks 2\nrank 0 {\nsend 8b to 2\n}\n", 3, "a rank from 0 to 1"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 0\n}\n", 3, "another rank than its own"},
		{"num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\n", 3, "wildcards"},
		{"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag -1\n}\n", 3, "wildcards"},
		{"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 18446744073709551616\n}\n", 3,
		 "a tag from 0"},
		{"num_ranks 2\n/* open\n", 2, "\"rank\", not \"/*\""},
		{"num_ranks 1\nrank 0 {\ncalc 5\n/* open }\n", 4, "not \"/*\""},
		{"num_ranks 1\nrank 0 {\n}\n/* open }\n", 4, "not \"/*\""},
		{"\xef\xbb\xbfnum_ranks 2\n", 1, "not the byte 0xef"},
		{"num_ranks 1\nrank 0 {\n\x1b: calc 5\n}\n", 3, "not the byte 0x1b"},
		{"num_ranks 2\n@", 2, "\"rank\", not \"@\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_fault fault = {0};
		struct job_graph g;

		assert_int_equal(read_text(rows[i].text, &g, &fault), -22);
		if (strstr(fault.why, rows[i].why) == NULL)
			fail_msg("%s: \"%s\"", rows[i].text, fault.why);
		if (rows[i].line != 0)
			assert_int_equal(fault.line, rows[i].line);
	}
}

TEST(a_binary_schedule_is_refused_by_name)
{
	static const char bytes[] = {8, 0, 0, 0, 64, 0, 0, 0};
	struct job_fault fault;
	struct job_graph g;

	assert_int_equal(goal_read(bytes, sizeof(bytes), 0, &g, &fault), -22);
	assert_non_null(strstr(fault.why, "txt2bin"));
	assert_int_equal(fault.line, 1);
}

/* Those of ATLAHS's generator: digits of the message, channel, sequence, kind and communicator. */
TEST(tags_keep_their_lower_32_bits)
{
	static const char text[] = "num_ranks 2 rank 0 { send 8b to 1 tag 12030004105 }\n"
				   "rank 1 { recv 8b from 0 tag 12030004105 }\n";
	struct job_fault fault;
	struct job_graph g;
	char op[64];

	assert_int_equal(read_text(text, &g, &fault), 0);
	assert_string_equal(job_op_text(&g.ranks[0], 0, op), "send 8b to 1 tag 3440069513");
	assert_string_equal(job_op_text(&g.ranks[1], 0, op), "recv 8b from 0 tag 3440069513");
	job_graph_free(&g);
}

/* A job as text, which the caller frees. */
static char *
text_of(const struct job_graph *g)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	goal_write(out, g);
	fclose(out);
	return text;
}

/* With a rendezvous, too: its ready messages are not written, and made again. */
TEST(what_is_written_reads_back_the_same)
{
	static const char text[] = "num_ranks 2\n"
				   "rank 0 {\n"
				   "l0: calc 5000 cpu 3\n"
				   "l1: send 8192b to 1 tag 7\n"
				   "l2: recv 100b from 1 tag 0\n"
				   "l3: calc 1\n"
				   "l2 irequires l0\n"
				   "l1 requires l0\n"
				   "l3 irequires l1\n"
				   "}\n"
				   "rank 1 {\n"
				   "l0: recv 8192b from 0 tag 7\n"
				   "l1: send 100b to 0 tag 0\n"
				   "l1 requires l0\n"
				   "}\n";

	for (uint64_t rendezvous_bytes = 0; rendezvous_bytes <= 4096; rendezvous_bytes += 4096) {
		struct job_fault fault;
		struct job_graph g;
		char *written;

		assert_int_equal(goal_read(text, strlen(text), rendezvous_bytes, &g, &fault), 0);
		assert_int_equal(g.ranks[0].n_ops, rendezvous_bytes > 0 ? 5 : 4);
		written = text_of(&g);
		job_graph_free(&g);
		assert_string_equal(written, text);
		free(written);
	}
}

TEST(a_text_ends_anywhere)
{
	static const char text[] =
		"num_ranks 2 rank 0 { a: send 8b to 1 tag 2 cpu 0 nic 0 b: calc 5 cpu 0 "
		"a requires b } rank 1 { recv 8b from 0 tag 2 /* x */ } // y";
	size_t n = strlen(text);

	for (size_t i = 0; i <= n; i++) {
		struct job_fault fault;
		struct job_graph g;
		/* A copy of its own size: sanitizers see a byte read after it. */
		char *copy = test_malloc(i + 1);

		memcpy(copy, text, i);
		if (goal_read(copy, i, 0, &g, &fault) == 0) {
			assert_true(i >= n - 5);
			job_graph_free(&g);
		}
		test_free(copy);
	}
}

static uint64_t
digest_of(const char *text)
{
	struct job_fault fault;
	struct job_graph g;
	uint64_t digest;

	assert_int_equal(read_text(text, &g, &fault), 0);
	digest = job_graph_digest(&g);
	job_graph_free(&g);
	return digest;
}

#define PAIR(calc, bytes, tag, need)                                                               \
	"num_ranks 2\nrank 0 {\na: calc " calc " cpu 1\nb: send " bytes "b to 1 tag " tag          \
	"\nb " need " a\n}\nrank 1 {\nrecv " bytes "b from 0 tag " tag "\n}\n"

TEST(equal_jobs_alone_have_equal_digests)
{
	static const char job[] = PAIR("10", "100", "7", "requires");
	static const char *const others[] = {
		PAIR("11", "100", "7", "requires"),
		PAIR("10", "101", "7", "requires"),
		PAIR("10", "100", "8", "requires"),
		PAIR("10", "100", "7", "irequires"),
		"num_ranks 3\nrank 0 {\na: calc 10 cpu 1\nb: send 100b to 1 tag 7\nb requires a\n}\n"
		"rank 1 {\nrecv 100b from 0 tag 7\n}\nrank 2 {\n}\n",
		"num_ranks 2\nrank 0 {\na: calc 10\nb: send 100b to 1 tag 7\nb requires a\n}\n"
		"rank 1 {\nrecv 100b from 0 tag 7\n}\n",
	};

	assert_int_equal(digest_of(job), digest_of(job));
	for (unsigned int i = 0; i < ARRAY_LEN(others); i++)
		assert_int_not_equal(digest_of(job), digest_of(others[i]));
}

TEST_MAIN()
