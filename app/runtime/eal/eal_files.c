/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/eal_files.h"

#include <stdint.h>
#include <sys/resource.h>

#include "base/threads/cores.h"
#include "runtime/notice/say.h"

/*
 * Besides the standard files, EAL opens about ten files, and two pipes to each lcore except the
 * first.
 */
#define FILES 32u
#define FILES_PER_LCORE 4u

bool
eal_has_files(unsigned int lcores)
{
	struct rlimit limit;
	uint64_t need;

	if (lcores == 0)
		lcores = usable_cores();
	need = FILES + (uint64_t)FILES_PER_LCORE * (lcores - 1);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
		return true;
	say_error("at most %ju files may be open: EAL needs %ju (ulimit -n)",
		  (uintmax_t)limit.rlim_cur, (uintmax_t)need);
	return false;
}
