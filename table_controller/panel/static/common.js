// What every page shares: elements, the session, the live stream, requests, and dialogs. No view of its own.

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
    // The second click of a double click answers nothing: by then another question may stand there. Keys are another
    // matter (`again`): whoever types 44 means both.
    if (name === "again") continue;
    if (name === "onclick") element.addEventListener("click", (event) => { if (event.detail < 2 || attributes.again) value(event); });
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
}

export const $ = (id) => document.getElementById(id);

// What an element is to whoever has the focus on it, whether it was drawn anew or not.
function same(element) {
  return [element.tagName, element.id, element.getAttribute("aria-label") || (element.id || Object.keys(element.dataset).length ? "" : element.textContent), ...Object.entries(element.dataset).flat()].join("\u0000");
}

// Put these children in place of what is there. What is drawn as it was stays as it is: with its focus, and unheard by
// whoever has the page read out.
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

// A page that is drawn anew between press and release would swallow the click: while a finger, a mouse button or the
// space bar is down, drawing waits, at most this long (ms) should nobody ever let go.
const PRESS = 2000;
const RELEASE = 60; // a touch becomes a click a moment after the finger left
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

// Make a page's way to draw itself wait while something is pressed.
export function steady(draw) {
  return () => { if (pressed !== null) waiting.add(draw); else draw(); };
}

// --- that a press counted -----------------------------------------------------------------------------------------------

const running = new Set();

// Whether something that was pressed is still on its way.
export function busy(key) {
  return running.has(key);
}

// Do something once at a time; what is drawn meanwhile may show that it is under way.
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

// Say something that nobody may miss, whatever is drawn meanwhile.
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

// A page that is open keeps its secret, and goes on counting: no number is used twice.
async function readSession() {
  const told = await (await fetch("/api/session", { cache: "no-store", headers: { "X-Pitbox-Page": session.page || "" } })).json();
  Object.assign(session, { role: told.role, id: told.id, page: told.page, eachTime: told.each_time, bench: told.bench });
  return told;
}

async function post(path, body, headers = {}) {
  try {
    const answer = await fetch(path, {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers },
    });
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return { status: 0, ok: false, text: "The box does not answer. Look at the table before you try again." };
  }
}

// Ask the box for something. Resolves to what came of it, once it is on disk.
export async function say(act, more = {}, path = "/api/say") {
  const send = () => {
    number += 1;
    return post(path, { n: number, ...(act ? { act } : {}), ...more }, { "X-Pitbox-Page": session.page || "" });
  };
  let told = await send();
  if (told.page === false) { await readSession(); told = await send(); } // it was not taken; the page has a new secret now
  if (told.status === 401 && !more.by) location.reload();
  return told;
}

// Read something that is not in the stream. Resolves to what it is, or to {ok: false, text}.
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

// Keys for a screen without a keyboard: they type into whichever of these fields was touched last.
function screenKeys(...fields) {
  let field = fields[0];
  for (const one of fields) one.addEventListener("focus", () => { field = one; });
  const key = (text) => h("button", { type: "button", again: true, tabindex: "-1", "aria-label": text === "⌫" ? "delete" : text, onclick: () => {
    field.value = text === "⌫" ? field.value.slice(0, -1) : field.value + text;
    field.focus();
  } }, text);
  return h("div", { class: "keys", role: "group", "aria-label": "keys" }, [..."1234567890qwertyuiopasdfghjkl-zxcvbnm._⌫"].map(key));
}

// Whoever opens a page signs on first. `after` runs once somebody is.
export async function start(title, after, go = null) {
  await readSession();
  if (session.role) { await (go ? go(session) : after()); return; }
  const id = h("input", { id: "who", name: "who", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const pin = h("input", { id: "pin", name: "pin", type: "password", inputmode: "numeric", autocomplete: "off", required: true });
  const said = h("p", { class: "said", role: "alert" });
  const go_ = h("button", { class: "go", type: "submit" }, "Sign on");
  const form = h("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    if (go_.disabled) return;
    go_.disabled = true;
    said.textContent = "";
    const told = await post("/api/sign_on", { who: { id: id.value.trim(), pin: pin.value } });
    go_.disabled = false;
    pin.value = "";
    if (!told.ok) { said.textContent = told.text; pin.focus(); return; }
    overlay.remove();
    await readSession();
    await (go ? go(session) : after());
  } },
  h("h1", {}, title),
  h("label", { for: "who" }, "Credential"), id, h("label", { for: "pin" }, "PIN"), pin, screenKeys(id, pin), said,
  go_, h("a", { href: "/sign", class: "soft" }, "Meter sign"));
  const overlay = h("div", { class: "signon", id: "signon" }, form);
  document.body.append(overlay);
  id.focus();
}

// --- live -------------------------------------------------------------------------------------------------------------

// Follow the table. Every message is the whole picture, so nothing has to be caught up.
export function follow(url, handlers, onLost = null) {
  let last = Date.now();
  let source = null;
  const banner = h("div", { class: "lost hidden", role: "alert" }, "No connection to the box: what you see may be old.");
  document.body.append(banner);
  const tests = h("div", { class: "testing hidden", role: "status" });
  document.body.append(tests);
  const test = (names) => {
    tests.textContent = names.length ? `TEST MODE: ${names.join(", ")}` : "";
    tests.title = "What is in test mode counts for nothing.";
    tests.classList.toggle("hidden", !names.length);
  };
  const heard = () => { last = Date.now(); banner.classList.add("hidden"); if (onLost) onLost(false); };
  const open = () => {
    if (source) source.close();
    source = new EventSource(url);
    for (const [kind, handler] of Object.entries(handlers)) {
      source.addEventListener(kind, (event) => {
        heard();
        const now = JSON.parse(event.data);
        if (kind === "state") test(now.testing || []);
        handler(now);
      });
    }
    source.addEventListener("beat", heard);
    source.addEventListener("gone", () => location.reload());
  };
  open();
  setInterval(async () => {
    if (Date.now() - last > 6000) {
      if (onLost) onLost(true); else banner.classList.remove("hidden");
      if (source.readyState !== EventSource.CLOSED) { if (Date.now() - last > 20000) { open(); last = Date.now() - 6001; } return; }
    } else if (source.readyState !== EventSource.CLOSED) return;
    // The stream was refused, or the box was restarted: then nobody is signed on any more.
    try {
      const before = session.role;
      const told = await readSession();
      if (before && !told.role) location.reload(); else open();
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
    const told = await read(`/api/clause/${encodeURIComponent(id)}`);
    dialog(h("h2", {}, id), h("p", {}, told.text), closer());
  } }, id);
}

// Ask for a credential and do something with it (`send`). A PIN that is refused is said right here, and may be typed
// again. Resolves to what came of it, or null if nobody gave a credential.
export function proved(title, id, send) {
  return new Promise((resolve) => {
    const who = h("input", { id: "by-id", value: id, autocomplete: "off", autocapitalize: "none", required: true });
    const pin = h("input", { id: "by-pin", type: "password", inputmode: "numeric", autocomplete: "off", required: true });
    const ok = h("button", { type: "submit", class: "go", id: "by-ok" }, "OK");
    const said = h("p", { class: "said", role: "alert" });
    let came = null;
    const form = h("form", { class: "pins", onsubmit: async (event) => {
      event.preventDefault();
      if (ok.disabled) return;
      ok.disabled = true;
      ok.textContent = "…";
      said.textContent = "";
      came = await send({ id: who.value.trim(), pin: pin.value });
      if (came.status === 401 || came.status === 429) {
        said.textContent = came.text;
        pin.value = "";
        ok.disabled = false;
        ok.textContent = "OK";
        came = null;
        pin.focus();
      } else box.close();
    } },
    h("h2", {}, title), h("label", { for: "by-id" }, "Credential"), who, h("label", { for: "by-pin" }, "PIN"), pin,
    screenKeys(who, pin), said, ok, closer("Cancel"));
    const box = dialog(form);
    box.addEventListener("close", () => resolve(came));
    (id ? pin : who).focus();
  });
}

// Ask for a credential; resolves to {id, pin}, or null if nobody gave one.
export async function credential(title, id = "") {
  const given = await proved(title, id, async (by) => ({ by }));
  return given && given.by;
}

// Say something that needs a PIN each time, or somebody else's credential.
export async function sayBy(role, act, more, path = "/api/say", always = false) {
  if (session.role === role && !session.eachTime && !always) return say(act, more, path);
  return proved(`${role}: your PIN`, session.role === role ? session.id : "", (by) => say(act, { ...more, by }, path));
}

// Say something that two people answer for, each with a PIN.
export async function sayByTwo(first, other, act, more) {
  const by = await credential(`${first}: your PIN`, session.role === first ? session.id : "");
  if (!by) return null;
  return proved(`${other}: your PIN`, "", (second) => say(act, { ...more, by, second }));
}

export function told(result) {
  if (!result || result.ok) return "";
  const reasons = (result.reasons || []).map((reason) => `${reason.text} (${reason.clause})`).join("; ");
  return reasons ? `Not now: ${reasons}` : result.text;
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

// What a technician must see to although the table plays on: certificates, folders, heads of the journal.
export function noticesCard(view) {
  if (!view || !view.notices || !view.notices.length) return null;
  return h("section", { class: "card", id: "notices" }, h("h2", {}, "For the technician"), view.notices.map((text) => h("div", { class: "line" }, text)));
}
