// SPDX-License-Identifier: BSD-3-Clause
// Changes from the page, if quenchctl web runs with --control and the page's address had its token.
"use strict";

// The token leaves the address bar at once, and is kept until the tab is closed. It goes only into a header of our own requests.
const token = (() => {
  const given = /^#token=(.+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem("token", given[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
})();

// A number exactly, in the largest unit that needs no fraction.
function exact(value, units) {
  const unit = units.find(([, size]) => value % size === 0 && value !== 0);
  return unit ? value / unit[1] + unit[0] : String(value);
}

const exactBytes = value => exact(value, [["MB", 1e6], ["KB", 1e3]]);
const exactRate = value => exact(value, [["G", 1e9], ["M", 1e6], ["K", 1e3]]);
const exactShare = ppm => ppm / 1e4 + "%";

function warnings(done) {
  return (done.warnings || []).map(text => `. Warning: ${text}`).join("");
}

function said(done) {
  if (done.flow)
    return `${done.qps} QPs reset` + (done.qps_failed > 0 ? `, of which ${done.qps_failed} had given up` : "");
  if (done.changed === 0)
    return "nothing changed: all keys have these values already";
  // A section that is new has no key.
  const rows = done.rows.slice(0, 4).map(r => `[${r.section}] ` + (r.key === "" ? "added" : `${r.key}: ${r.from} \u2192 ${r.to}`)).join("; ");
  return rows + (done.changed > 4 ? `; and ${done.changed - 4} more keys` : "") +
    (done.in_force ? "" : ". Accepted, but not yet in force on all lcores: they are busy or stopped") + warnings(done);
}

// The panel of one program.
class Control {
  constructor(root, program) {
    this.root = root;
    this.program = program.name;
    this.isSwitch = program.program === "quench-switch";
    this.form = root.querySelector(this.isSwitch ? ".of-switch" : ".of-nic");
    this.form.hidden = false;
    this.target = this.form.querySelector("select");
    this.list = [];
    root.addEventListener("toggle", () => root.open && this.ask({do: "show"}));
    this.target.addEventListener("change", () => {
      this.say("", false);
      this.ask({do: "show"});
    });
    this.form.addEventListener("submit", event => {
      event.preventDefault();
      this.send(event.submitter ? event.submitter.value : "set");
    });
  }

  field(name) {
    return this.form.elements[name];
  }

  chosen() {
    return this.list[this.target.selectedIndex];
  }

  // What differs from the values in force.
  edited() {
    const fields = [...this.form.querySelectorAll("input[data-was]")];
    return Object.fromEntries(fields.filter(f => f.value.trim() !== f.dataset.was).map(f => [f.name, f.value.trim()]));
  }

  send(action) {
    const at = this.chosen(), values = this.edited();
    if (action !== "set")
      this.ask({do: action, flow: at.flow});
    else if (Object.keys(values).length === 0)
      this.say("nothing to change: these values are in force", false);
    else if (this.isSwitch)
      this.ask({do: "curve", port: at.port, queue: at.queue, only: this.field("scope").value === "only", ...values});
    else
      this.ask({do: "cap", flow: at.flow, ...values});
  }

  // One request at a time: an answer sets the fields, and a second one would undo what was edited since the first.
  async ask(what) {
    if (this.form.ariaBusy === "true")
      return;
    if (what.do !== "show")
      this.say("...", false);
    this.busy(true);
    try {
      const reply = await fetch("control", {method: "POST", cache: "no-store", signal: AbortSignal.timeout(20000),
        headers: {"Content-Type": "application/json", "X-Quench-Token": token}, body: JSON.stringify({program: this.program, ...what})});
      if (!reply.ok) {
        this.say((await reply.text()).trim(), true);
      } else {
        const {done, settings} = await reply.json();
        this.fill(settings.queues || settings.flows);
        if (done)
          this.say(said(done), !done.in_force || (done.warnings || []).length > 0);
        else if (this.list.length === 0)
          this.say(this.isSwitch ? "no queue has a WRED curve" : "there is no flow", false);
      }
    } catch (error) {
      this.say("quenchctl does not answer", true);
    }
    this.busy(false);
  }

  busy(on) {
    this.form.ariaBusy = on;
    this.form.querySelector("fieldset").disabled = on || this.list.length === 0;
  }

  say(text, refused) {
    const output = this.root.querySelector("output");
    output.textContent = text;
    output.classList.toggle("lost", refused);
  }

  fill(list) {
    const names = list.map(item => item.name || item.flow), at = Math.max(0, names.indexOf(this.target.value));
    this.list = list;
    this.target.replaceChildren(...names.map(name => element("option", {}, name)));
    if (list.length === 0)
      return;
    this.target.selectedIndex = at;
    const item = list[at];
    if (this.isSwitch)
      this.fillQueue(item);
    else
      this.fillFlow(item);
  }

  put(name, text) {
    this.field(name).value = this.field(name).dataset.was = text;
  }

  fillQueue(queue) {
    const section = queue.profile === "" ? "[wred]" : `[wred ${queue.profile}]`;
    this.put("Kmin", exactBytes(queue.Kmin));
    this.put("Kmax", exactBytes(queue.Kmax));
    this.put("Pmax", exactShare(queue.Pmax));
    this.form.querySelector(".scopes").hidden = queue.sharing === 1;
    this.form.querySelector(".all").textContent = `all ${queue.sharing} queues of ${section}`;
  }

  fillFlow(flow) {
    this.put("cap", flow.cap > 0 ? exactRate(flow.cap) : "0");
    this.form.querySelector(".running").textContent = flow.stopped ? "stopped" : "started";
    for (const button of this.form.querySelectorAll("button"))
      if (button.value === "start" || button.value === "stop")
        button.hidden = (button.value === "stop") === flow.stopped;
  }
}
