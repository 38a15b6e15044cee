/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "job/goal.h"
#include "job/job_check.h"

TEST(a_job_that_never_ends_is_refused_with_the_operation)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why; /* NULL: it ends */
	} rows[] = {
		{"num_ranks 1\nrank 0 {\n}\n", 0, NULL},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n", 0, NULL},
		/* Both receive first: fine, unless sends wait for it. */
		{"num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\n}\nrank 1 {\nr: recv 8b from 0\ns: send 8b to 0\n}\n",
		 0, NULL},
		{"num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\nrank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n",
		 3, "rank 0: recv 8b from 1 tag 0 waits for its message"},
		{"num_ranks 1\nrank 0 {\ncalc 1\na: calc 2\nb: calc 3\nc: calc 4\na requires b\nb irequires c\nc requires a\nd: calc 5\nd requires a\n}\n",
		 0, "waits for an operation that waits for it"},
		{"num_ranks 1\nrank 0 {\na: calc 2\na requires a\n}\n", 3,
		 "rank 0: calc 2 waits for an operation"},
		{"num_ranks 2\nrank 0 {\n}\nrank 1 {\nrecv 8b from 0\n}\n", 5,
		 "rank 1: recv 8b from 0 tag 0 waits for its message"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0\n}\n", 3,
		 "rank 0: send 8b to 1 tag 1: a recv of that source and tag at rank 1"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		 0,
		 "rank 1: a recv for each message from rank 0 with tag 0, of which 1 are never received"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n", 6,
		 "the 8 bytes that its source sends with that tag, not 9"},
		/* The order of two with one tag may change; their sum may not. */
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 9b to 1\n}\nrank 1 {\nrecv 9b from 0\nrecv 8b from 0\n}\n",
		 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_fault fault = {0};
		struct job_graph g;
		int rc;

		assert_int_equal(goal_read(rows[i].text, strlen(rows[i].text), 0, &g, &fault), 0);
		rc = job_check(&g, &fault);
		assert_int_equal(rc, rows[i].why == NULL ? 0 : -22);
		if (rows[i].why != NULL && strstr(fault.why, rows[i].why) == NULL)
			fail_msg("%s: \"%s\"", rows[i].text, fault.why);
		if (rows[i].line != 0)
			assert_int_equal(fault.line, rows[i].line);
		job_graph_free(&g);
	}
}

TEST(a_send_that_waits_for_its_recv_is_seen_before_the_run)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why; /* NULL: it ends */
	} rows[] = {
		/* Both send first: fine only for small messages. */
		{"num_ranks 2\nrank 0 {\ns: send 7b to 1\nr: recv 7b from 1\nr requires s\n}\nrank 1 {\ns: send 7b to 0\nr: recv 7b from 0\nr requires s\n}\n",
		 0, NULL},
		{"num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 4\nr: recv 8b from 1\nr requires s\n}\nrank 1 {\ns: send 8b to 0\nr: recv 8b from 0 tag 4\nr requires s\n}\n",
		 3, "rank 0: send to 1 tag 4 waits for its recv"},
		{"num_ranks 2\nrank 0 {\ns: send 8b to 1\nr: recv 8b from 1\nr irequires s\n}\nrank 1 {\ns: send 8b to 0\nr: recv 8b from 0\nr irequires s\n}\n",
		 0, NULL},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 4b from 0\nrecv 4b from 0\n}\n",
		 3, "rank 0: send to 1 tag 0 waits for its recv"},
		{"num_ranks 2\nrank 0 {\nsend 4b to 1\nsend 4b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		 7,
		 "rank 1: ready for a send of 0 tag 0: a send of that destination and tag at rank 0, with rendezvous_bytes or more"},
		{"num_ranks 2\nrank 0 {\nsend 8b to 1 tag 2147483648\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		 3, "a tag below 2147483648 with rendezvous_bytes, not 2147483648"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_fault fault = {0};
		struct job_graph g = {0};
		int rc = goal_read(rows[i].text, strlen(rows[i].text), 8, &g, &fault);

		if (rc == 0)
			rc = job_check(&g, &fault);
		assert_int_equal(rc, rows[i].why == NULL ? 0 : -22);
		if (rows[i].why != NULL && strstr(fault.why, rows[i].why) == NULL)
			fail_msg("%s: \"%s\"", rows[i].text, fault.why);
		assert_int_equal(fault.line, rows[i].line);
		job_graph_free(&g);
	}
}

TEST_MAIN()
