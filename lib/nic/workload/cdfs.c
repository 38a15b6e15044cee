/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/cdfs.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"

#define MOST_POINTS 20u
/* Shares are in 1 / HUNDRED_PERCENT. */
#define HUNDRED_PERCENT 10000u

static const struct {
	const char *name;
	struct {
		uint32_t bytes;
		uint32_t share;
	} points[MOST_POINTS];
} cdfs[] = {
	/*
	 * WebSearch_distribution: a query cluster; after Alizadeh et al., "Data Center TCP
	 * (DCTCP)", SIGCOMM 2010.
	 */
	{"websearch",
	 {{1, 0},
	  {10000, 1500},
	  {20000, 2000},
	  {30000, 3000},
	  {50000, 4000},
	  {80000, 5300},
	  {200000, 6000},
	  {1000000, 7000},
	  {2000000, 8000},
	  {5000000, 9000},
	  {10000000, 9700},
	  {30000000, HUNDRED_PERCENT}}},
	/*
	 * FbHdp_distribution: a Hadoop cluster of Facebook; after Roy et al., "Inside the Social
	 * Network's (Datacenter) Network", SIGCOMM 2015.
	 */
	{"hadoop", {{1, 0},         {100, 100},      {200, 200},      {300, 500},
		    {350, 1500},    {400, 2000},     {500, 3000},     {600, 4000},
		    {700, 5000},    {1000, 6000},    {2000, 6700},    {7000, 7000},
		    {30000, 7200},  {50000, 8200},   {80000, 8700},   {120000, 9000},
		    {300000, 9500}, {1000000, 9750}, {2000000, 9900}, {10000000, HUNDRED_PERCENT}}},
	/*
	 * AliStorage2019: a distributed storage system of Alibaba in 2019, which the generator
	 * itself publishes.
	 */
	{"alistorage",
	 {{1, 0},
	  {4000, 2293},
	  {8000, 6921},
	  {16000, 8061},
	  {32000, 9047},
	  {64000, 9353},
	  {128000, 9677},
	  {256000, 9753},
	  {2000000, HUNDRED_PERCENT}}},
};

bool
workload_cdf_of(const char *name, struct workload_cdf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(cdfs); i++) {
		uint32_t n = 0;
		int rc;

		if (strcmp(cdfs[i].name, name) != 0)
			continue;
		do {
			out->bytes[n] = cdfs[i].points[n].bytes;
			out->share_q32[n] =
				(cdfs[i].points[n].share * Q32_ONE + HUNDRED_PERCENT / 2) /
				HUNDRED_PERCENT;
		} while (cdfs[i].points[n++].share != HUNDRED_PERCENT);
		out->n = n;
		rc = workload_cdf_finish(out);
		assert(rc == 0);
		(void)rc;
		return true;
	}
	return false;
}
