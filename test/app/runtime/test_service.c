/* SPDX-License-Identifier: BSD-3-Clause */
/* What systemd hears, by a socket as it makes one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit/cases.h"
#include "base/numbers/units.h"
#include "runtime/notice/service.h"

#define WATCHDOG_NS (8 * NS_PER_SEC)

static int manager; /* systemd's end */

static int
listen_as_systemd(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	(void)state;
	/* In the abstract namespace: no file is left behind. */
	snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "quench-test-%d", (int)getpid());
	addr.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (bind(manager, (const struct sockaddr *)&addr,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(addr.sun_path + 1))) != 0)
		return -1;
	addr.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", addr.sun_path, 1);
	setenv("WATCHDOG_USEC", "8000000", 1);
	return 0;
}

static int
hang_up(void **state)
{
	(void)state;
	return close(manager);
}

/* The next message is this; NULL: there is none. */
static void
assert_heard(const char *expected)
{
	char text[128];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	if (expected == NULL) {
		assert_int_equal(n, -1);
		return;
	}
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

TEST(ready_and_stopping_are_said)
{
	service_ready();
	assert_heard("READY=1");
	service_stopping();
	assert_heard("STOPPING=1");
	assert_heard(NULL);
}

TEST(the_watchdog_hears_four_times_in_its_interval_while_all_lcores_poll)
{
	struct service_pulse pulses[2] = {{.lcore = 1}, {.lcore = 2}};
	struct service s;
	uint64_t now = 0;

	service_init(&s, now);
	assert_int_equal(s.watchdog_ns, WATCHDOG_NS);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(service_beat(&s, &pulses[0], now), now + WATCHDOG_NS / 4);
		assert_int_equal(service_beat(&s, &pulses[1], now), now + WATCHDOG_NS / 4);
		now = service_watch(&s, pulses, 2, now);
		assert_int_equal(now, (i + 1) * (WATCHDOG_NS / 4));
		assert_heard("WATCHDOG=1");
	}
	/* Before its time nothing is said. */
	assert_int_equal(service_watch(&s, pulses, 2, now - 1), now);
	assert_heard(NULL);
}

TEST(one_lcore_that_stands_still_silences_the_watchdog_until_it_polls_again)
{
	struct service_pulse pulses[2] = {{.lcore = 1}, {.lcore = 2}};
	struct service s;
	uint64_t now = 0;

	service_init(&s, now);
	service_beat(&s, &pulses[0], WATCHDOG_NS);
	service_beat(&s, &pulses[1], WATCHDOG_NS / 2);
	service_watch(&s, pulses, 2, WATCHDOG_NS);
	assert_heard("WATCHDOG=1"); /* exactly half: not yet late */
	service_watch(&s, pulses, 2, WATCHDOG_NS + WATCHDOG_NS / 4);
	assert_heard(NULL);
	assert_true(pulses[1].late && !pulses[0].late);
	service_beat(&s, &pulses[1], WATCHDOG_NS + WATCHDOG_NS / 2 - 1);
	service_watch(&s, pulses, 2, WATCHDOG_NS + WATCHDOG_NS / 2);
	assert_heard("WATCHDOG=1");
	assert_false(pulses[1].late);
}

TEST(without_a_watchdog_no_lcore_is_asked_to_beat)
{
	struct service_pulse pulse = {.lcore = 1};
	struct service s;

	unsetenv("WATCHDOG_USEC");
	service_init(&s, 0);
	assert_true(service_beat(&s, &pulse, 5) == NEVER_NS);
	assert_true(service_watch(&s, &pulse, 1, 1000 * NS_PER_SEC) == NEVER_NS);
	assert_heard(NULL);
}

TEST_MAIN(.begin = listen_as_systemd, .end = hang_up)
