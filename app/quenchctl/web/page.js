// SPDX-License-Identifier: BSD-3-Clause
// Asks for the program's counters twice a second and shows how they rise.
"use strict";

const EVERY_MS = 500;
const WINDOW_S = 120;
const MOST_LINES = 8;
const MOST_BARS = 12; // with more, idle bars are left out
const GAP_BYTES = 20; // preamble and gap: a link's use counts them

const byId = id => document.getElementById(id);
let before = null, chosen = null, held = false;
const tiles = new Tiles(byId("ports"), key => { chosen = chosen === key ? null : key; redraw(); });
const bars = new Bars(byId("bars"));
const charts = {
  rates: new Chart(byId("rates"), "b/s", WINDOW_S),
  depth: new Chart(byId("depth"), "B", WINDOW_S),
  signals: new Chart(byId("signals"), "/s", WINDOW_S),
};
const busy = new Map(); // time when a bar was last above 0
let last = null; // the last picture, to redraw after a click

const rows = (data, reply, list) => (data.replies && data.replies[reply] && data.replies[reply][list || "rows"]) || [];
const keyOf = (row, keys) => keys.map(k => row[k]).join("/");

// Increase of a counter per second; 0 without an earlier value.
function riser(data) {
  const seconds = before && before.pid === data.pid ? (data.elapsed_ns - before.elapsed_ns) / 1e9 : 0;
  return (row, was, key) => seconds > 0 && was && was[key] !== undefined ? (row[key] - was[key]) / seconds : 0;
}

function pairs(data, reply, list, keys) {
  const old = new Map(before ? rows(before, reply, list).map(r => [keyOf(r, keys), r]) : []);
  return rows(data, reply, list).map(row => [row, old.get(keyOf(row, keys))]);
}

function sum(row, test) {
  return Object.keys(row || {}).filter(test).reduce((total, key) => total + row[key], 0);
}

function switchPicture(data) {
  const rise = riser(data);
  const storms = rows(data, "pfcwd").filter(w => w.status === "stormed");
  const picture = {ports: [], bars: [], rates: {}, depth: {}, signals: {}, storms: storms.map(
    w => `port ${w.port}, priority ${w.prio}: storm of pauses, ${w.action}`)};
  for (const [row, was] of pairs(data, "ports", "rows", ["port"])) {
    const wire = way => (rise(row, was, way + "_bytes") + GAP_BYTES * rise(row, was, way + "_packets")) * 8;
    const port = {key: String(row.port), name: `${row.port}  ${row.device}`, rx: wire("rx"), tx: wire("tx"),
      pauses: rise(row, was, "rx_pause_frames") + rise(row, was, "tx_pause_frames"),
      speed: row.link_speed_bps, down: row.link === "down", storm: storms.some(w => w.port === row.port)};
    picture.ports.push(port);
    picture.rates[`port ${row.port} in`] = port.rx;
    picture.rates[`port ${row.port} out`] = port.tx;
    picture.signals[`port ${row.port} pauses`] = port.pauses;
  }
  for (const [row, was] of pairs(data, "ecn", "rows", ["port", "queue"])) {
    const name = `port ${row.port} queue ${row.queue}`;
    picture.bars.push({key: name, port: String(row.port), name, value: row.queue_bytes, unit: "B",
      alarm: false, marks: [{name: "WRED min", kind: "wred", at: row.green_min_threshold_bytes},
        {name: "WRED max", kind: "wred", at: row.green_max_threshold_bytes}]});
    picture.depth[name] = row.queue_bytes;
    picture.signals[`port ${row.port} marks`] =
      (picture.signals[`port ${row.port} marks`] || 0) + rise(row, was, "ecn_marked_packets");
  }
  for (const row of rows(data, "pg", "pgs")) {
    if (row.shared_bytes + row.headroom_bytes <= 0 && row.watermark_bytes <= 0)
      continue;
    const marks = [{name: "XOFF", kind: "xoff", at: row.shared_limit_bytes}];
    if (row.shared_xon_bytes !== undefined)
      marks.push({name: "XON", kind: "xon", at: row.shared_xon_bytes});
    picture.bars.push({key: `port ${row.port} pg ${row.pg}`, port: String(row.port), name: `port ${row.port} group ${row.pg}`, unit: "B",
      value: row.shared_bytes + row.headroom_bytes, alarm: row.headroom_bytes > 0, marks});
  }
  return picture;
}

function nicPicture(data) {
  const rise = riser(data);
  const at = name => [data.replies[name] || {}, before && before.replies && before.replies[name]];
  const [nic, nicWas] = at("nic"), [port] = at("port"), [rp, rpWas] = at("rp"), [np, npWas] = at("np");
  const wire = way => (rise(nic, nicWas, way + "_bytes") + GAP_BYTES * rise(nic, nicWas, way + "_packets")) * 8;
  const picture = {ports: [{key: "0", name: port.device || "port", rx: wire("rx"), tx: wire("tx"), speed: port.link_speed_bps,
    pauses: rise(nic, nicWas, "rx_pause_frames"), down: port.link === "down", storm: false}], bars: [], rates: {}, depth: {}, signals: {}, storms: []};
  for (const [row, was] of pairs(data, "flows", "rows", ["flow"])) {
    if (row.gone)
      continue;
    const rate = rise(row, was, "wire_bytes") * 8;
    picture.rates[row.flow] = rate;
    picture.bars.push({key: row.flow, port: "0", name: row.flow, value: rate, unit: "b/s", alarm: false, full: port.link_speed_bps, marks: []});
    if (row.rtt_p50_ns !== undefined)
      picture.depth[row.flow] = row.rtt_p50_ns / 1e9;
  }
  picture.signals["CNPs handled"] = rise(rp, rpWas, "rp_cnp_handled");
  picture.signals["CNPs sent"] = rise(np, npWas, "np_cnp_sent");
  picture.signals["CNPs ignored"] = rise(rp, rpWas, "rp_cnp_ignored");
  picture.signals["sent again"] = rise(nic, nicWas, "retransmitted_packets");
  picture.signals["pauses"] = rise(nic, nicWas, "rx_pause_frames");
  return picture;
}

// With many ports, draw those with the highest values, unless one is chosen.
function wanted(chart) {
  if (chosen !== null && last && last.isSwitch)
    return name => name.startsWith(`port ${chosen} `);
  let most = [...chart.series].map(([name, list]) => [name, Math.max(0, ...list)]);
  if (most.length > MOST_LINES && most.some(m => m[1] > 0))
    most = most.filter(m => m[1] > 0);
  most.sort((a, b) => b[1] - a[1]);
  const shown = new Set(most.slice(0, MOST_LINES).map(m => m[0]));
  return name => shown.has(name);
}

// With many bars, show those that were above 0 in the last minutes.
function shownBars(bars, now) {
  for (const b of bars)
    if (b.value > 0)
      busy.set(b.key, now);
  if (chosen !== null && last.isSwitch)
    return bars.filter(b => b.port === chosen);
  return bars.length <= MOST_BARS ? bars : bars.filter(b => now - (busy.get(b.key) || 0) < WINDOW_S * 1000);
}

function redraw() {
  if (!last)
    return;
  tiles.show(last.picture.ports, chosen);
  const shown = shownBars(last.picture.bars, last.at_ms), idle = last.picture.bars.length - shown.length;
  bars.show(shown);
  byId("idle").textContent = chosen !== null || idle === 0 ? "" : `${idle} that were empty for two minutes are not shown.`;
  for (const chart of Object.values(charts))
    chart.draw(wanted(chart));
}

function showEvents(events) {
  byId("events").replaceChildren(...events.slice().reverse().map(e =>
    element("li", e.alarm ? {class: "alarm"} : {},
      element("time", {datetime: new Date(e.at_ms).toISOString()}, clock(e.at_ms / 1000)), e.text)));
  byId("quiet").hidden = events.length > 0;
}

function showState(text, lost) {
  byId("state").textContent = text;
  byId("state").classList.toggle("lost", lost);
}

function show(data) {
  const isSwitch = data.program === "quench-switch";
  const version = data.replies.info ? data.replies.info.version : "";
  const up = Math.floor(data.elapsed_ns / 1e9);
  byId("program").textContent = data.program;
  document.title = data.program;
  byId("facts").textContent = `${version}, pid ${data.pid}, up ${Math.floor(up / 3600)} h ${Math.floor(up / 60) % 60} min ${up % 60} s`;
  byId("bars-title").textContent = isSwitch ? "Queues and priority groups" : "Flows, of the link's speed";
  byId("rates-title").textContent = isSwitch ? "Rates of ports" : "Rates of flows";
  byId("signals-title").textContent = isSwitch ? "Marks and pauses a second" : "CNPs, pauses and packets sent again, a second";
  for (const hint of document.querySelectorAll(".of-switch"))
    hint.hidden = !isSwitch;
  byId("depth-title").textContent = isSwitch ? "Queue depth" : "Round trip time, median since the start";
  charts.depth.unit = isSwitch ? "B" : "s";
  if (before && before.pid !== data.pid)
    Object.values(charts).forEach(c => c.clear());
  const picture = isSwitch ? switchPicture(data) : nicPicture(data);
  if (before && before.pid === data.pid)
    for (const [name, chart] of Object.entries(charts))
      chart.add(data.at_ms / 1000, picture[name]);
  byId("storms").hidden = picture.storms.length === 0;
  byId("storms").textContent = picture.storms.join("; ");
  last = {picture, isSwitch, at_ms: data.at_ms};
  before = data;
  if (!held)
    redraw();
}

async function ask() {
  try {
    const reply = await fetch("data", {cache: "no-store", signal: AbortSignal.timeout(8000)});
    if (!reply.ok)
      throw new Error(`quenchctl says ${reply.status}`);
    const data = await reply.json();
    showEvents(data.events);
    if (data.up) {
      show(data);
      showState(held ? "held" : "live", false);
    } else {
      showState(`${data.program} is gone, waiting for it`, true);
    }
  } catch (error) {
    showState("quenchctl does not answer, trying again", true);
  }
  setTimeout(ask, EVERY_MS);
}

byId("hold").addEventListener("click", () => {
  held = !held;
  byId("hold").textContent = held ? "go on" : "hold";
  redraw();
});
ask();
