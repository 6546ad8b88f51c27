// Orders of a technician to a machine, each signed with a PIN: the forms, and the results.

import { closer, dialog, h, machineName, submitAs, show, toast, refusalText } from "./common.js";

function field(call, asked) {
  const id = `ask-${call}-${asked.name}`;
  const name = asked.name.replaceAll("_", " ");
  if (asked.kind === "yes") { const input = h("input", { id, type: "checkbox" }); return { name: asked.name, row: h("label", { class: "row", for: id }, input, name), value: () => input.checked || undefined }; }
  if (asked.kind === "one") { const input = h("select", { id }, asked.of.map((each) => h("option", { value: each }, each.replaceAll("_", " ")))); return { name: asked.name, row: h("div", {}, h("label", { for: id }, name), input), value: () => input.value }; }
  const input = h("input", { id, inputmode: "numeric", maxlength: 5 });
  return { name: asked.name, row: h("div", {}, h("label", { for: id }, name), input), value: () => (/^\d+$/.test(input.value.trim()) ? Number(input.value) : null) };
}

// One row for each order. Calls `done` when an order has ended.
export function orderRows(machine, answer, done = () => {}) {
  return machine.orders.map((order) => {
    const fields = order.asks.map((asked) => field(order.call, asked));
    const button = h("button", { type: "button", class: "small", "data-call": order.call, onclick: async () => {
      if (button.disabled) return;
      const values = {};
      for (const one of fields) {
        const value = one.value();
        if (value === null) { answer.textContent = `${order.text}: enter ${one.name.replaceAll("_", " ")} as a number.`; return; }
        if (value !== undefined) values[one.name] = value;
      }
      button.disabled = true;
      button.setAttribute("aria-busy", "true");
      answer.textContent = `${order.text}: running…`;
      const result = await submitAs("technician", "device", { slot: machine.name, call: order.call, arguments: values }, { always: true, signing: `${machineName(machine.name)}: ${order.text}` });
      button.disabled = false;
      button.removeAttribute("aria-busy");
      const text = result === null ? "" : result.ok ? result.text : refusalText(result);
      answer.textContent = text;
      if (result && !result.ok) toast(text);
      done();
    } }, order.text);
    return h("div", { class: "row order" }, button, fields.map((one) => one.row));
  });
}

export function orders(slot, now) {
  const machine = now(slot);
  const answer = h("p", { class: "message", role: "status" });
  const rows = h("div", { class: "list" });
  dialog(h("h2", {}, `${machineName(slot)}: orders`), h("p", { class: "soft" }, "A technician signs each order with a PIN. The journal records each order and its result."), rows, answer, h("div", { class: "row" }, closer()));
  show(rows, machine.orders.length ? orderRows(machine, answer) : h("p", {}, "No order is possible now."));
}
