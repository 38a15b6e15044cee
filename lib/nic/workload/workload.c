/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/workload.h"

#include <errno.h>

#include "base/numbers/fixed.h"

const char *const workload_size_words[] = {"fixed", "uniform", "cdf", NULL};
const char *const workload_arrival_words[] = {"closed", "poisson",   "periodic", "on_off",
					      "incast", "lognormal", NULL};

#define LN2_Q32 2977044472ll

/* Sizes and arrivals are drawn from independent streams. */
enum stream { STREAM_SIZE = 1, STREAM_ARRIVAL = 2, STREAM_ANGLE = 3, STREAM_ROUND = 4 };

/* The finalizer of splitmix64 (Vigna): each bit of the input reaches each bit of the output. */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* 64 uniform bits, a function of seed, stream, QP and message. */
static uint64_t
draw(const struct workload *w, enum stream stream, uint32_t qpn, uint64_t message)
{
	uint64_t key = mix(w->seed * 0x9e3779b97f4a7c15ull + ((uint64_t)stream << 32 | qpn));

	return mix(key + (message + 1) * 0x9e3779b97f4a7c15ull);
}

/* a + (b - a) * part / whole, a <= b. */
static uint64_t
between(uint64_t a, uint64_t b, uint64_t part, uint64_t whole)
{
	return a + mul_div(b - a, part, whole);
}

int
workload_cdf_finish(struct workload_cdf *cdf)
{
	unsigned __int128 twice_mean_q32 = 0;
	uint64_t last_share = 0, last_bytes = cdf->n > 0 ? cdf->bytes[0] : 0;

	if (cdf->n == 0 || cdf->share_q32[cdf->n - 1] != Q32_ONE)
		return -EINVAL;
	for (uint32_t i = 0; i < cdf->n; i++) {
		if (cdf->share_q32[i] < last_share || cdf->bytes[i] < last_bytes ||
		    cdf->bytes[i] > WORKLOAD_MAX_BYTES)
			return -EINVAL;
		twice_mean_q32 += (unsigned __int128)(cdf->share_q32[i] - last_share) *
				  (cdf->bytes[i] + last_bytes);
		last_share = cdf->share_q32[i];
		last_bytes = cdf->bytes[i];
	}
	cdf->mean_bytes_q32 = (uint64_t)(twice_mean_q32 >> 1);
	return 0;
}

/* Inverse of the distribution: this share of the messages has at most the size returned. */
static uint64_t
cdf_bytes(const struct workload_cdf *cdf, uint32_t share_q32)
{
	uint32_t low = 0, high = cdf->n - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (cdf->share_q32[middle] > share_q32)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return cdf->bytes[0];
	return between(cdf->bytes[low - 1], cdf->bytes[low], share_q32 - cdf->share_q32[low - 1],
		       cdf->share_q32[low] - cdf->share_q32[low - 1]);
}

uint64_t
workload_message_bytes(const struct workload *w, uint32_t qpn, uint64_t message)
{
	uint64_t number;

	if (workload_is_fixed(w))
		return w->message_bytes;
	if (w->message_size == WORKLOAD_BY_QP)
		return w->by_qp->bytes[qpn - w->by_qp->first_qpn];
	if (w->message_size == WORKLOAD_POSTED)
		return workload_post(w, qpn, message)->bytes;
	number = draw(w, STREAM_SIZE, qpn, message);
	if (w->message_size == WORKLOAD_CDF)
		return cdf_bytes(w->cdf, (uint32_t)(number >> 32));
	return w->message_min_bytes +
	       (uint64_t)((unsigned __int128)number *
				  (w->message_bytes - w->message_min_bytes + 1) >>
			  64);
}

uint64_t
workload_largest_bytes(const struct workload *w)
{
	if (w->message_size == WORKLOAD_CDF)
		return w->cdf != NULL ? w->cdf->bytes[w->cdf->n - 1] : 0;
	return w->message_bytes;
}

static uint64_t
mean_bytes_q32(const struct workload *w)
{
	if (w->message_size == WORKLOAD_CDF)
		return w->cdf->mean_bytes_q32;
	if (w->message_size == WORKLOAD_UNIFORM)
		return (w->message_min_bytes + w->message_bytes) << 31;
	return w->message_bytes << 32;
}

/*
 * -ln(u / 2^64) in Q32, u > 0. Repeated squaring of the mantissa yields the binary digits of its
 * log2: if a square is 2 or more, the digit is 1.
 */
static uint64_t
minus_ln_q32(uint64_t u)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(u);
	uint64_t mantissa = u << zeros; /* divided by 2^63: in [1, 2) */
	uint64_t log2_q32 = 0;

	for (unsigned int bit = 0; bit < 32; bit++) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
		bool carry = square >> 127;

		mantissa = (uint64_t)(square >> (carry ? 64 : 63));
		log2_q32 = log2_q32 << 1 | carry;
	}
	return mul_q32((uint64_t)(zeros + 1) * Q32_ONE - log2_q32, LN2_Q32);
}

/* Square root, rounded down. */
static uint64_t
root(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ull << 31; bit > 0; bit >>= 1)
		if ((r | bit) * (r | bit) <= x)
			r |= bit;
	return r;
}

/* Cosine of a share of a right angle. */
static uint64_t
cos_q32(uint64_t share_q32)
{
	const uint64_t right_q32 = 6746518852ull; /* pi / 2 */
	uint64_t angle_q32 = mul_q32(right_q32, share_q32);
	uint64_t square_q32 = mul_q32(angle_q32, angle_q32), term_q32 = Q32_ONE, even = 0, odd = 0;

	/* The Taylor series: 1 - x^2 / 2! + x^4 / 4! - ... */
	for (unsigned int k = 1; term_q32 > 0; k += 2) {
		*(k % 4 == 1 ? &even : &odd) += term_q32;
		term_q32 = mul_q32(term_q32, square_q32) / (k * (k + 1));
	}
	return sub_sat(even, odd);
}

/*
 * x exp(y), at most `most`; x <= 2^94. exp(y) = 2^twos exp(rest) with 0 <= rest < ln 2, whose
 * Taylor series converges fast.
 */
static unsigned __int128
times_exp(unsigned __int128 x, int64_t y_q32, unsigned __int128 most)
{
	int64_t twos = y_q32 / LN2_Q32 - (y_q32 % LN2_Q32 < 0);
	uint64_t rest_q32 = (uint64_t)(y_q32 - twos * LN2_Q32), exp_q32 = 0, term_q32 = Q32_ONE;
	unsigned __int128 product;

	for (uint64_t k = 1; term_q32 > 0; k++) {
		exp_q32 += term_q32;
		term_q32 = mul_q32(term_q32, rest_q32) / k;
	}
	product = x * exp_q32;
	if (twos <= 32)
		product = twos < -95 ? 0 : product >> (32 - twos);
	else if (product > most >> (twos - 32))
		return most;
	else
		product <<= twos - 32;
	return product > most ? most : product;
}

/* A normal number by Box and Muller (1958), from two uniform ones. Its magnitude is below 9.5. */
static int64_t
normal_q32(uint64_t u, uint64_t v)
{
	/* 2 * 44.4 in Q32, times 2^24: below 2^63. */
	uint64_t radius_q28 = root(2 * minus_ln_q32(max_u64(1, u)) << 24);
	uint64_t size_q32 = (uint64_t)((unsigned __int128)radius_q28 * cos_q32(v << 1 >> 32) >> 28);

	return v >> 63 ? -(int64_t)size_q32 : (int64_t)size_q32;
}

static unsigned __int128
lognormal_gap_q32(const struct workload *w, unsigned __int128 mean_q32, uint32_t qpn,
		  uint64_t message, unsigned __int128 most_q32)
{
	int64_t z_q32 = normal_q32(draw(w, STREAM_ARRIVAL, qpn, message),
				   draw(w, STREAM_ANGLE, qpn, message));
	int64_t sigma_pct = w->arrival_sigma_pct;

	/* 300 * 9.5 and 300^2 in Q32: below 2^49. */
	return times_exp(mean_q32,
			 sigma_pct * z_q32 / 100 - sigma_pct * sigma_pct * (int64_t)Q32_ONE / 20000,
			 most_q32);
}

/* mean_q32 <= 2^94. */
static unsigned __int128
poisson_gap_q32(const struct workload *w, unsigned __int128 mean_q32, uint32_t qpn,
		uint64_t message)
{
	uint64_t ln_q32 = minus_ln_q32(max_u64(1, draw(w, STREAM_ARRIVAL, qpn, message)));

	return (mean_q32 >> 32) * ln_q32 + ((mean_q32 & UINT32_MAX) * ln_q32 >> 32);
}

/*
 * Gaps are whole ns, and their mean is exact. Periodic: gap m is floor(m x) - floor((m - 1) x),
 * with x the mean, so the remainder is carried over. Random: a gap is rounded up with a probability
 * that is its remainder.
 */
uint64_t
workload_gap_ns(const struct workload *w, uint64_t load_bps, uint32_t qpn, uint64_t message)
{
	const unsigned __int128 most_q32 = (unsigned __int128)1 << 94;
	/* No overflow: 2^63 and 2^33. */
	unsigned __int128 mean_q32 =
		(unsigned __int128)mean_bytes_q32(w) * (8 * NS_PER_SEC) / load_bps;
	unsigned __int128 gap_q32;

	mean_q32 = mean_q32 > most_q32 ? most_q32 : mean_q32;
	if (w->arrival == WORKLOAD_PERIODIC) {
		uint32_t part = (uint32_t)mean_q32;

		if (message == 0)
			return 0;
		return (uint64_t)(mean_q32 >> 32) + ((uint32_t)(message * part) < part);
	}
	if (w->arrival == WORKLOAD_LOGNORMAL)
		gap_q32 = lognormal_gap_q32(w, mean_q32, qpn, message, most_q32);
	else
		gap_q32 = poisson_gap_q32(w, mean_q32, qpn, message);
	gap_q32 += (uint32_t)draw(w, STREAM_ROUND, qpn, message);
	return gap_q32 > most_q32 ? 1ull << 62 : (uint64_t)(gap_q32 >> 32);
}

uint64_t
workload_on_at_ns(const struct workload *w, uint64_t now_ns)
{
	uint64_t phase_ns;

	if (w->arrival != WORKLOAD_ON_OFF || now_ns < w->start_ns)
		return now_ns;
	phase_ns = (now_ns - w->start_ns) % (w->on_ns + w->off_ns);
	return phase_ns < w->on_ns ? now_ns : now_ns + w->on_ns + w->off_ns - phase_ns;
}

int
workload_check(const struct workload *w, char *why, unsigned int why_size)
{
	const char *fault;

	if (w->message_bytes > WORKLOAD_MAX_BYTES)
		fault = "message_bytes must not exceed 2^31";
	else if (w->message_size == WORKLOAD_UNIFORM && w->message_min_bytes > w->message_bytes)
		fault = "message_min_bytes must not exceed message_bytes with message_size = "
			"uniform";
	else if (w->message_size == WORKLOAD_CDF && w->cdf == NULL)
		fault = "message_cdf must name a file if message_size = cdf";
	else if (w->message_size != WORKLOAD_CDF && w->message_cdf[0] != '\0')
		fault = "message_cdf needs message_size = cdf";
	else if (w->depth == 0)
		fault = "depth must not be 0";
	else if (w->start_ns >= 1ull << 63)
		fault = "start_ns must be below 2^63";
	else if (workload_is_open(w) && w->load_bps == 0)
		fault = "load_bps must not be 0 with arrival = poisson, lognormal or periodic";
	else if (workload_is_open(w) && mean_bytes_q32(w) < Q32_ONE)
		fault = "message_bytes, or the sizes in message_cdf, must give a mean of at least 1 "
			"byte with arrival = poisson, lognormal or periodic";
	else if (w->arrival == WORKLOAD_ON_OFF && w->on_ns == 0)
		fault = "on_ns must not be 0 with arrival = on_off";
	else if (!workload_is_open(w) && w->load_bps != 0)
		fault = "load_bps needs arrival = poisson, lognormal or periodic";
	else if (w->arrival != WORKLOAD_ON_OFF && (w->on_ns != 0 || w->off_ns != 0))
		fault = "on_ns and off_ns need arrival = on_off";
	else
		return 0;
	return params_refuse(why, why_size, "%s", fault);
}

bool
workload_same(const struct workload *a, const struct workload *b)
{
	return a->message_size == b->message_size && a->arrival == b->arrival &&
	       a->message_bytes == b->message_bytes &&
	       a->message_min_bytes == b->message_min_bytes && a->messages == b->messages &&
	       a->bytes == b->bytes && a->stop_ns == b->stop_ns && a->load_bps == b->load_bps &&
	       a->on_ns == b->on_ns && a->off_ns == b->off_ns && a->seed == b->seed &&
	       a->depth == b->depth && a->arrival_sigma_pct == b->arrival_sigma_pct &&
	       a->by_qp == b->by_qp && a->cdf == b->cdf &&
	       (a->start_ns == b->start_ns || a->arrival == WORKLOAD_CLOSED);
}
