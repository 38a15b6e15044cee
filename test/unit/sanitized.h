/* SPDX-License-Identifier: BSD-3-Clause */
/* SANITIZED: whether this is built with a sanitizer, which makes a run five times as long. */
#ifndef QUENCH_TEST_UNIT_SANITIZED_H
#define QUENCH_TEST_UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
	__has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
