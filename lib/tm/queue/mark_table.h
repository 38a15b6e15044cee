/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The marking schemes beside WRED, one line for each: MARK(ID, word), included where MARK() is
 * defined.
 *
 *   ID    MARK_ID of enum mark_scheme
 *   word  value of marking in [queue N], and section of the keys; lib/tm/queue/word.c defines
 *         mark_word (a struct mark_ops), word_fields and word_counters
 *
 * The build takes its list of sources from here. This file has no include guard.
 */
MARK(STEP, step)
MARK(PHANTOM, phantom)
