/** Modals, one over the other, and the App Home. */

import { blocks } from "./page_blocks.js";
import { h, text, unique } from "./page_dom.js";
import { act, world } from "./page_world.js";

let open = null;

/** Show the person's top modal, or none. */
export function showModal() {
  const view = world.modals.at(-1);
  const shown = view ? `${world.person.id} ${view.id} ${view.hash}` : "";
  if ((open?.shown ?? "") === shown) return;
  const before = open;
  open = view ? modal(view) : null;
  if (open) {
    open.shown = shown;
    document.body.append(open);
    open.showModal();
    open.querySelector("input, textarea, select")?.focus();
  }
  before?.close();
  before?.remove();
}

/** What the bot shows on a person's Home, or that it shows nothing. */
export function home() {
  const view = world.home;
  if (!view) return h("p.empty", {}, "This app does not use its Home. Everything is in Messages.");
  return h("div.blocks", {}, blocks(view.blocks, placed(view)));
}

const placed = (view) => ({ target: { view: view.id }, state: view.state.values });

function modal(view) {
  const title = unique();
  const close = (event) => (event.preventDefault(), act("close"));
  return h("dialog.modal", { oncancel: close, "aria-labelledby": title },
    h("form", { onsubmit: submit, novalidate: true },
      h("header", {}, h("h2", { id: title }, text(view.title)),
        h("button.plain", { type: "button", onclick: close, "aria-label": "Close" }, "✕")),
      h("div.blocks", {}, blocks(view.blocks, placed(view))),
      h("p.triangle", { role: "alert" }),
      h("footer", {},
        h("button", { type: "button", onclick: close }, view.close ? text(view.close) : "Close"),
        view.submit && h("button.primary", { type: "submit" }, text(view.submit)))));
}

async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  form.ariaBusy = true;
  const { warning, errors } = await act("submit");
  form.ariaBusy = null;
  form.querySelector("p.triangle").textContent = warning ? `⚠ ${warning}` : "";
  for (const field of form.querySelectorAll(".field")) complain(field, errors[field.dataset.block]);
  form.querySelector("[aria-invalid]")?.focus();
}

function complain(field, error) {
  field.querySelector(".error")?.remove();
  const input = field.querySelector("[data-action]");
  input?.removeAttribute("aria-invalid");
  if (!error) return;
  const id = unique();
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", id);
  field.append(h("p.error", { id, role: "alert" }, error));
}
