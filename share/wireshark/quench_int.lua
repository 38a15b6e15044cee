-- SPDX-License-Identifier: BSD-3-Clause
-- Wireshark dissector of the in-band telemetry of quench (doc/int.md): UDP port 4792, before the BTH.

local int = Proto("quench_int", "In-band telemetry of quench")
local f = int.fields

f.version = ProtoField.uint8("quench_int.version", "Version", base.DEC, nil, 0xf0)
f.echo = ProtoField.bool("quench_int.echo", "Echo of a receiver", 8, nil, 0x01)
f.full = ProtoField.bool("quench_int.full", "A switch found no free slot", 8, nil, 0x02)
f.slots = ProtoField.uint8("quench_int.slots", "Slots", base.DEC, nil, 0xf0)
f.hops = ProtoField.uint8("quench_int.hops", "Hops", base.DEC, nil, 0x0f)
f.path = ProtoField.uint16("quench_int.path", "Path ID", base.HEX)
f.queue = ProtoField.uint32("quench_int.hop.queue", "Bytes left in the queue")
f.sent = ProtoField.uint32("quench_int.hop.sent", "Wire bytes sent, modulo 2^32")
f.time = ProtoField.uint32("quench_int.hop.time", "Time of the switch in ns, modulo 2^32")
f.rate = ProtoField.uint32("quench_int.hop.rate", "Rate of the port in Mb/s")

local malformed = ProtoExpert.new("quench_int.malformed", "Slots, hops or length do not fit",
	expert.group.MALFORMED, expert.severity.ERROR)
int.experts = { malformed }

local VERSION, HEAD, HOP, MOST = 2, 4, 16, 6

function int.dissector(buffer, pinfo, tree)
	if buffer:len() < HEAD or buffer(0, 1):bitfield(0, 4) ~= VERSION then
		return 0
	end
	local slots, hops = buffer(1, 1):bitfield(0, 4), buffer(1, 1):bitfield(4, 4)
	local length = HEAD + HOP * slots
	local whole = slots <= MOST and hops <= slots and buffer:len() >= length
	local top = tree:add(int, buffer(0, whole and length or HEAD),
		string.format("In-band telemetry of quench, %d of %d slots", hops, slots))
	top:add(f.version, buffer(0, 1))
	top:add(f.echo, buffer(0, 1))
	top:add(f.full, buffer(0, 1))
	top:add(f.slots, buffer(1, 1))
	top:add(f.hops, buffer(1, 1))
	top:add(f.path, buffer(2, 2))
	if not whole then
		top:add_proto_expert_info(malformed)
		return buffer:len()
	end
	for i = 0, hops - 1 do
		local at = HEAD + HOP * i
		local hop = top:add(int, buffer(at, HOP), string.format(
			"Hop %d: %d bytes queued at %d Mb/s", i + 1, buffer(at, 4):uint(), buffer(at + 12, 4):uint()))
		hop:add(f.queue, buffer(at, 4))
		hop:add(f.sent, buffer(at + 4, 4))
		hop:add(f.time, buffer(at + 8, 4))
		hop:add(f.rate, buffer(at + 12, 4))
	end
	-- The ICRC is that of the frame without this header, so the rest is plain RoCEv2.
	DissectorTable.get("udp.port"):get_dissector(4791):call(buffer(length):tvb(), pinfo, tree)
	return buffer:len()
end

DissectorTable.get("udp.port"):add(4792, int)
