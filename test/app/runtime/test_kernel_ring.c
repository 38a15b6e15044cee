/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of packet sockets, beside a kernel that numbers them as Linux does: from 0 on. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "unit/cases.h"

#define SOCKETS 8
#define NUMBER 0xFFFF
#define UNIQUE ((int)(PACKET_FANOUT_FLAG_UNIQUEID * 0x10000u))
#define DEFRAG ((int)(PACKET_FANOUT_FLAG_DEFRAG * 0x10000u))
/* As net_af_packet asks. */
#define ASKED (DEFRAG | PACKET_FANOUT_FLAG_ROLLOVER << 16 | 0x1234)

/* Linux: fanout_next_id, and the word that getsockopt() returns for a socket. */
static struct {
	int next, word[SOCKETS];
} kernel;

/*
 * In place of the C library's, by which setsockopt() of kernel_ring.c calls the kernel. Other
 * callers may give fewer arguments than it passes on, which a sanitizer would report.
 */
__attribute__((no_sanitize_address)) long
syscall(long number, ...)
{
	long (*libc)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list args;
	int word;

	va_start(args, number);
	for (unsigned int i = 0; i < (number == SYS_setsockopt ? 5 : ARRAY_LEN(arg)); i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number != SYS_setsockopt)
		return libc(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	assert_in_range((int)arg[0], 0, SOCKETS - 1);
	memcpy(&word, (const void *)arg[3], sizeof(word));
	kernel.word[(int)arg[0]] = word & UNIQUE ? (word & ~UNIQUE) | kernel.next++ : word;
	return 0;
}

int
getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
	if (fd < 0 || fd >= SOCKETS || level != SOL_PACKET || option != PACKET_FANOUT) {
		errno = EBADF;
		return -1;
	}
	memcpy(value, &kernel.word[fd], sizeof(kernel.word[fd]));
	*len = sizeof(kernel.word[fd]);
	return 0;
}

static void
ask(int fd, int word)
{
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &word, sizeof(word)), 0);
}

static void
boot(int first)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.next = first;
}

/* In two groups, each queue would receive every frame. */
static void
queues_share_a_group(int first)
{
	static int device;
	int asked = ASKED + device++;

	boot(first);
	for (int fd = 0; fd < 3; fd++)
		ask(fd, asked);
	for (int fd = 0; fd < 3; fd++) {
		assert_int_equal(kernel.word[fd] & NUMBER, first);
		assert_int_equal(kernel.word[fd] & (DEFRAG | UNIQUE), 0);
	}
}

TEST(the_queues_of_a_device_share_a_group)
{
	queues_share_a_group(17);
}

TEST(the_first_group_since_the_kernel_booted_has_number_0)
{
	queues_share_a_group(0);
}

TEST(devices_have_groups_of_their_own)
{
	boot(0);
	ask(0, ASKED + 100);
	ask(1, ASKED + 101);
	ask(2, ASKED + 101);
	assert_int_not_equal(kernel.word[0] & NUMBER, kernel.word[1] & NUMBER);
	assert_int_equal(kernel.word[1], kernel.word[2]);
}

TEST_MAIN()
