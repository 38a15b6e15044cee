/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms, one line for each: CC(ID, word, section), included where CC() is defined.
 *
 *   ID       CC_ID of enum cc_algorithm
 *   word     value of cc in [nic]; lib/cc/algorithms/word.c defines cc_word, a struct cc_ops
 *   section  section of the keys; word.c, or a file of the same module, defines section_fields and
 *            section_counters
 *
 * The build takes its list of sources from here. This file has no include guard.
 */
CC(DCQCN, dcqcn, rp)
CC(DCTCP, dctcp, dctcp)
CC(TIMELY, timely, timely)
CC(HPCC, hpcc, hpcc)
CC(SWIFT, swift, swift)
CC(AIMD, aimd, aimd)
CC(FAIR, fair, fair)
CC(DCQCN_PLUS, dcqcn_plus, dcqcn_plus)
