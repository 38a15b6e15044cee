/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/host/rx_drain.h"

#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "base/numbers/fixed.h"

#define MAX_BYTES (1ull << 31)

const struct field rx_drain_fields[] = {
	{FIELD_OF(struct rx_drain_params, drain_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "rate at which the host empties the buffer of each priority; 0: at once"},
	{FIELD_OF(struct rx_drain_params, xoff_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .min = 1, .max = MAX_BYTES, .def = "100KB",
	 .help = "buffered bytes of a priority at which its sender is paused"},
	{FIELD_OF(struct rx_drain_params, xon_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = MAX_BYTES, .def = "50KB", .help = "buffered bytes at which the sender may resume"},
	{FIELD_OF(struct rx_drain_params, buffer_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .min = 1, .max = MAX_BYTES, .def = "1MB",
	 .help = "size of each priority's buffer; frames beyond it are lost"},
	{FIELD_OF(struct rx_drain_params, device_stall_minor_watermark_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = 3600 * NS_PER_SEC, .def = "6800ms",
	 .help = "uninterrupted pause of a priority after which the NIC counts "
		 "tx_pause_storm_warning_events; 0: never"},
	{FIELD_OF(struct rx_drain_params, device_stall_critical_watermark_ns), .type = FIELD_U64,
	 .unit = UNIT_NS, .max = 3600 * NS_PER_SEC, .def = "8s",
	 .help = "uninterrupted pause of a priority after which the NIC counts "
		 "tx_pause_storm_error_events and stops pausing: frames that do not fit are lost "
		 "until the buffer has drained to xon_bytes; 0: never"},
};
const unsigned int rx_drain_fields_n = ARRAY_LEN(rx_drain_fields);

int
rx_drain_params_check(const struct rx_drain_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(rx_drain_fields, rx_drain_fields_n, p, why, why_size);

	if (rc != 0 || p->drain_rate_bps == 0)
		return rc;
	if (p->xon_bytes >= p->xoff_bytes)
		return params_refuse(why, why_size, "xon_bytes must be below xoff_bytes");
	if (p->xoff_bytes > p->buffer_bytes)
		return params_refuse(why, why_size, "xoff_bytes must not exceed buffer_bytes");
	if (p->device_stall_critical_watermark_ns > 0 &&
	    p->device_stall_minor_watermark_ns > p->device_stall_critical_watermark_ns)
		return params_refuse(why, why_size,
				     "device_stall_minor_watermark_ns must not exceed "
				     "device_stall_critical_watermark_ns");
	return 0;
}

/*
 * More bytes than a buffer can hold, or the drain can take in the time by which clocks of two
 * lcores differ. A larger distance modulo 2^64 means that the byte lies in the past.
 */
#define MOST_AHEAD (1ull << 33)

/* Bytes that the drain can have taken by now_ns. They need up to 70 bits. */
static unsigned __int128
drained_bytes(const struct rx_drain_params *params, uint64_t now_ns)
{
	return (unsigned __int128)now_ns * params->drain_rate_bps / (8 * NS_PER_SEC);
}

/*
 * Bytes in a buffer that is filled up to byte `filled`, at drained bytes. Both count modulo 2^64.
 */
static uint64_t
bytes_left(uint64_t filled, uint64_t drained)
{
	uint64_t bytes = filled - drained;

	return bytes <= MOST_AHEAD ? bytes : 0;
}

uint64_t
rx_drain_bytes(const struct rx_drain *d, const struct rx_drain_params *params, uint64_t now_ns)
{
	return bytes_left(__atomic_load_n(&d->filled_bytes, __ATOMIC_SEQ_CST),
			  (uint64_t)drained_bytes(params, now_ns));
}

void
rx_drain_refill(struct rx_drain *d, const struct rx_drain_params *params, uint64_t bytes,
		uint64_t now_ns)
{
	__atomic_store_n(&d->filled_bytes, (uint64_t)drained_bytes(params, now_ns) + bytes,
			 __ATOMIC_RELAXED);
}

bool
rx_drain_admit(struct rx_drain *d, const struct rx_drain_params *params, uint32_t bytes,
	       uint64_t now_ns)
{
	uint64_t drained = (uint64_t)drained_bytes(params, now_ns);
	uint64_t filled = __atomic_load_n(&d->filled_bytes, __ATOMIC_RELAXED);
	uint64_t bytes_then;

	do {
		bytes_then = bytes_left(filled, drained) + bytes;
		if (bytes_then > params->buffer_bytes)
			return false;
		/*
		 * Sequentially consistent, so that this store precedes the caller's load of the
		 * pause state: nic/port/nic_pause.c.
		 */
	} while (!__atomic_compare_exchange_n(&d->filled_bytes, &filled, drained + bytes_then, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return true;
}

bool
rx_drain_wants_xoff(const struct rx_drain *d, const struct rx_drain_params *params, bool held,
		    uint64_t now_ns)
{
	uint64_t bytes = rx_drain_bytes(d, params, now_ns);

	return held ? bytes > params->xon_bytes : bytes >= params->xoff_bytes;
}

uint64_t
rx_drain_xon_ns(const struct rx_drain *d, const struct rx_drain_params *params, uint64_t now_ns)
{
	unsigned __int128 at = drained_bytes(params, now_ns) +
			       sub_sat(rx_drain_bytes(d, params, now_ns), params->xon_bytes);

	return (uint64_t)((at * (8 * NS_PER_SEC) + params->drain_rate_bps - 1) /
			  params->drain_rate_bps);
}
