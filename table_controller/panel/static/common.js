// Shared by all pages: elements, the session, the live stream, requests, dialogs, names and times.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    // The second click of a double click is ignored, because another question may be in that place by then. Keypad keys
    // (`again`) count each time.
    if (name === "again") continue;
    if (name === "onclick") element.addEventListener("click", (event) => { if (event.detail < 2 || attributes.again) value(event); });
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
}

export const $ = (id) => document.getElementById(id);

// Identifies an element with the focus, before and after the page is drawn again.
function same(element) {
  return [element.tagName, element.id, element.getAttribute("aria-label") || (element.id || Object.keys(element.dataset).length ? "" : element.textContent), ...Object.entries(element.dataset).flat()].join("\u0000");
}

// Replaces the children. Unchanged elements stay, so that they keep the focus and screen readers do not read them again.
export function show(element, ...children) {
  const fresh = children.flat(9).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(child)));
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && same(focused);
  const old = [...element.childNodes];
  fresh.forEach((child, at) => {
    if (at >= old.length) element.append(child);
    else if (old[at] !== child && !old[at].isEqualNode(child)) old[at].replaceWith(child);
  });
  old.slice(fresh.length).forEach((child) => child.remove());
  if (focused && !focused.isConnected) {
    const again = [...element.querySelectorAll("button, input, select, a, [tabindex]")].find((one) => same(one) === key);
    if (again) again.focus({ preventScroll: true });
  }
}

// --- drawing ----------------------------------------------------------------------------------------------------------

// Drawing between press and release would lose the click: while a finger, a mouse button or the space bar is down,
// drawing waits, at most this long (ms).
const PRESS = 2000;
const RELEASE = 60; // a touch becomes a click a moment after the finger lifts
const waiting = new Set();
let pressed = null;

function press() {
  clearTimeout(pressed);
  pressed = setTimeout(release, PRESS);
}

function release() {
  clearTimeout(pressed);
  pressed = null;
  const due = [...waiting];
  waiting.clear();
  for (const draw of due) draw();
}

const letGo = () => { if (pressed !== null) { clearTimeout(pressed); pressed = setTimeout(release, RELEASE); } };
document.addEventListener("pointerdown", press, true);
document.addEventListener("pointerup", letGo, true);
document.addEventListener("pointercancel", letGo, true);
document.addEventListener("keydown", (event) => { if (event.key === " ") press(); }, true);
document.addEventListener("keyup", (event) => { if (event.key === " ") letGo(); }, true);
document.addEventListener("click", () => setTimeout(release), true);

// Returns a draw function that waits while something is pressed.
export function steady(draw) {
  return () => { if (pressed !== null) waiting.add(draw); else draw(); };
}

// --- requests under way ---------------------------------------------------------------------------------------------

const running = new Set();

// Whether a request with this key is under way.
export function busy(key) {
  return running.has(key);
}

// Runs one request per key at a time, and draws before and after it.
export async function once(key, draw, work) {
  if (running.has(key)) return null;
  running.add(key);
  draw();
  try {
    return await work();
  } finally {
    running.delete(key);
    draw();
  }
}

let fading = null;

// Shows a short message on top of everything.
export function toast(text, bad = true) {
  if (!text) return;
  let line = $("toast");
  if (!line) document.body.append(line = h("div", { id: "toast", popover: "manual", role: "status", "aria-live": "assertive" }));
  line.textContent = text;
  line.className = bad ? "bad" : "good";
  if (line.showPopover) { if (line.matches(":popover-open")) line.hidePopover(); line.showPopover(); } // above every dialog
  clearTimeout(fading);
  fading = setTimeout(() => { line.className = "hidden"; if (line.hidePopover && line.matches(":popover-open")) line.hidePopover(); }, bad ? 8000 : 2500);
}

// --- light and dark ---------------------------------------------------------------------------------------------------

const kept = localStorage.getItem("theme");
if (kept) document.documentElement.dataset.theme = kept;

export function themeButton() {
  return h("button", { class: "small", type: "button", "aria-label": "light or dark", onclick: () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", document.documentElement.dataset.theme);
  } }, "◐");
}

// --- the session ------------------------------------------------------------------------------------------------------

export const session = { role: null, id: null, page: null, eachTime: false, bench: false };
let number = 0;

// An open page keeps its secret and its request counter.
async function readSession() {
  const now = await (await fetch("/api/session", { cache: "no-store", headers: { "X-Pitbox-Page": session.page || "" } })).json();
  Object.assign(session, { role: now.role, id: now.id, page: now.page, eachTime: now.each_time, bench: now.bench });
  return now;
}

async function post(path, body, headers = {}) {
  try {
    const answer = await fetch(path, {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers },
    });
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return { status: 0, ok: false, text: "The box does not answer. Check the table before you try again." };
  }
}

// Sends a request to the box (docs/box.md lists them). Resolves to the result once it is on disk.
export async function submit(name, more = {}, path = "/api/request") {
  const send = () => {
    number += 1;
    return post(path, { n: number, ...(name ? { do: name } : {}), ...more }, { "X-Pitbox-Page": session.page || "" });
  };
  let result = await send();
  if (result.page === false) { await readSession(); result = await send(); } // refused; the page has a new secret now
  if (result.status === 401 && !more.by) location.reload();
  return result;
}

// Reads something that is not in the stream. Resolves to it, or to {ok: false, text}.
export async function read(path) {
  try {
    return await (await fetch(path, { cache: "no-store" })).json();
  } catch {
    return { ok: false, text: "The box does not answer." };
  }
}

export async function signOff() {
  await post("/api/sign_off", {}, { "X-Pitbox-Page": session.page || "" });
  location.href = "/";
}

// Keys for a screen without a keyboard; they type into the field that was touched last.
function screenKeys(...fields) {
  let field = fields[0];
  for (const one of fields) one.addEventListener("focus", () => { field = one; });
  const key = (text) => h("button", { type: "button", again: true, tabindex: "-1", "aria-label": text === "⌫" ? "delete" : text, onclick: () => {
    field.value = text === "⌫" ? field.value.slice(0, -1) : field.value + text;
    field.focus();
  } }, text);
  return h("div", { class: "keys", role: "group", "aria-label": "keys" }, [..."1234567890qwertyuiopasdfghjkl-zxcvbnm._⌫"].map(key));
}

// Shows the sign-on form if nobody is signed on; runs `after` when somebody is.
export async function start(title, after, go = null) {
  await readSession();
  if (session.role) { await (go ? go(session) : after()); return; }
  const id = h("input", { id: "who", name: "who", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const pin = h("input", { id: "pin", name: "pin", type: "password", inputmode: "numeric", autocomplete: "off", required: true });
  const message = h("p", { class: "message", role: "alert" });
  const go_ = h("button", { class: "go", type: "submit" }, "Sign on");
  const form = h("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    if (go_.disabled) return;
    go_.disabled = true;
    message.textContent = "";
    const result = await post("/api/sign_on", { who: { id: id.value.trim(), pin: pin.value } });
    go_.disabled = false;
    pin.value = "";
    if (!result.ok) { message.textContent = result.text; pin.focus(); return; }
    overlay.remove();
    await readSession();
    await (go ? go(session) : after());
  } },
  h("h1", {}, title),
  h("label", { for: "who" }, "Badge or name"), id, h("label", { for: "pin" }, "PIN"), pin, screenKeys(id, pin), message,
  go_, h("a", { href: "/sign", class: "soft" }, "Sign"));
  const overlay = h("div", { class: "signon", id: "signon" }, form);
  document.body.append(overlay);
  id.focus();
}

// --- live -------------------------------------------------------------------------------------------------------------

// Follows the table. Every message is the whole state, so a page that missed some is right with the next one.
export function follow(url, handlers, onLost = null) {
  let last = Date.now();
  let source = null;
  const banner = h("div", { class: "lost hidden", role: "alert" }, "No connection to the box: this page may be out of date.");
  document.body.append(banner);
  const tests = h("div", { class: "testing hidden", role: "status" });
  document.body.append(tests);
  const test = (names) => {
    tests.textContent = names.length ? `TEST MODE: ${names.join(", ")}` : "";
    tests.title = "Nothing that a machine does in test mode counts.";
    tests.classList.toggle("hidden", !names.length);
  };
  const received = () => { last = Date.now(); banner.classList.add("hidden"); if (onLost) onLost(false); };
  const open = () => {
    if (source) source.close();
    source = new EventSource(url);
    for (const [kind, handler] of Object.entries(handlers)) {
      source.addEventListener(kind, (event) => {
        received();
        const now = JSON.parse(event.data);
        if (kind === "state") test(now.testing || []);
        handler(now);
      });
    }
    source.addEventListener("beat", received);
    source.addEventListener("gone", () => location.reload());
  };
  open();
  setInterval(async () => {
    if (Date.now() - last > 6000) {
      if (onLost) onLost(true); else banner.classList.remove("hidden");
      if (source.readyState !== EventSource.CLOSED) { if (Date.now() - last > 20000) { open(); last = Date.now() - 6001; } return; }
    } else if (source.readyState !== EventSource.CLOSED) return;
    // The stream was refused, or the box was restarted and nobody is signed on any more.
    try {
      const before = session.role;
      const now = await readSession();
      if (before && !now.role) location.reload(); else open();
    } catch { if (onLost) onLost(true); else banner.classList.remove("hidden"); }
  }, 1000);
}

// --- dialogs ----------------------------------------------------------------------------------------------------------

export function dialog(...children) {
  const box = h("dialog", {}, ...children);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

export function closer(text = "Close") {
  return h("button", { type: "button", onclick: (event) => event.target.closest("dialog").close() }, text);
}

export function clause(id) {
  return h("button", { type: "button", class: "clause", "aria-label": `clause ${id}`, onclick: async () => {
    const found = await read(`/api/clause/${encodeURIComponent(id)}`);
    dialog(h("h2", {}, id), h("p", {}, found.text), closer());
  } }, id);
}

// Asks for a badge and PIN and sends them (`send`). A refused PIN is shown here and may be typed again. Resolves to the
// result, or null if the person cancels.
export function signDialog(role, signing, id, send) {
  return new Promise((resolve) => {
    const who = h("input", { id: "by-id", value: id, autocomplete: "off", autocapitalize: "none", required: true });
    const pin = h("input", { id: "by-pin", type: "password", inputmode: "numeric", autocomplete: "off", required: true });
    const ok = h("button", { type: "submit", class: "go", id: "by-ok" }, "Sign");
    const message = h("p", { class: "message", role: "alert" });
    let result = null;
    const form = h("form", { class: "pins", onsubmit: async (event) => {
      event.preventDefault();
      if (ok.disabled) return;
      ok.disabled = true;
      ok.textContent = "…";
      message.textContent = "";
      result = await send({ id: who.value.trim(), pin: pin.value });
      if (result.status === 401 || result.status === 429) {
        message.textContent = result.text;
        pin.value = "";
        ok.disabled = false;
        ok.textContent = "Sign";
        result = null;
        pin.focus();
      } else box.close();
    } },
    h("h2", {}, signing ? `You are signing: ${signing}` : "Sign"), h("label", { for: "by-id" }, `${roleName(role)}: badge or name`), who, h("label", { for: "by-pin" }, "PIN"), pin,
    screenKeys(who, pin), message, ok, closer("Cancel"));
    const box = dialog(form);
    box.addEventListener("close", () => resolve(result));
    (id ? pin : who).focus();
  });
}

// Asks for a badge and PIN; resolves to {id, pin}, or null if the person cancels.
export async function credential(role, signing, id = "") {
  const given = await signDialog(role, signing, id, async (by) => ({ by }));
  return given && given.by;
}

// Sends a request that needs a PIN each time, or another person's badge. `signing` names the act in the dialog.
export async function submitAs(role, name, more, { always = false, signing = "" } = {}) {
  if (session.role === role && !session.eachTime && !always) return submit(name, more);
  return signDialog(role, signing, session.role === role ? session.id : "", (by) => submit(name, { ...more, by }));
}

// Sends a request that two people sign, each with a PIN.
export async function submitAsTwo(first, other, name, more, signing) {
  const by = await credential(first, signing, session.role === first ? session.id : "");
  if (!by) return null;
  return signDialog(other, signing, "", (second) => submit(name, { ...more, by, second }));
}

// The text of a refused request; empty if it was accepted.
export function refusalText(result) {
  if (!result || result.ok) return "";
  const reasons = (result.reasons || []).map((reason) => `${reason.text} (${reason.clause})`).join("; ");
  return reasons ? `Not now: ${reasons}` : result.text;
}

// --- names and times ---------------------------------------------------------------------------------------------------

const MACHINES = { "/sign": "sign page", "/sign/odds": "odds on the sign page", rng: "number generator", shaker: "dice shaker", button: "button sensor" };

// A machine by the name on its label: "shoe.1" is "Shoe 1".
export function machineName(slot) {
  const [kind, number] = slot.split(".");
  const words = MACHINES[kind] || kind.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1) + (number ? ` ${number}` : "");
}

export function roleName(role) {
  return role.charAt(0).toUpperCase() + role.slice(1);
}

// Local time, as "9:41 PM"; with the date, as "3/17, 9:41 PM"; with seconds, as "9:41:05 PM".
export function timeText(ms, { date = false, seconds = false } = {}) {
  const day = date ? { month: "numeric", day: "numeric" } : {};
  return new Date(ms).toLocaleString("en-US", { ...day, hour: "numeric", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) });
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const hours = Math.floor(seconds / 3600);
  return hours ? `${hours} h ${Math.floor((seconds % 3600) / 60)} min` : `${Math.floor(seconds / 60)} min`;
}

export function badgeOf(state) {
  const kinds = { in_service: "good", faulted: "bad", absent: "bad", out_of_order_unsigned: "bad" };
  return kinds[state] || "warn";
}

// Notices for the technician while the table plays on: certificates, folders, heads of the journal.
export function noticesCard(view) {
  if (!view || !view.notices || !view.notices.length) return null;
  return h("section", { class: "card", id: "notices" }, h("h2", {}, "For the technician"), view.notices.map((text) => h("div", { class: "line" }, text)));
}
