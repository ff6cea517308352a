/** Buttons and inputs of Block Kit: each tells the server at once what stands in it. */

import { h, text, unique, unknown } from "./page_dom.js";
import { act, nameOf, world } from "./page_world.js";

const PLAIN = {
  datepicker: "date", timepicker: "time", email_text_input: "email", url_text_input: "url",
};
const RADIO = { radio_buttons: "radio", checkboxes: "checkbox" };

/** An interactive element of a block in a place: {target, state}, labelled by the id `label`. */
export function control(element, block, { place, label }) {
  if (element.type === "image") return image(element);
  if (element.type === "button") return button(element, block, place);
  if (element.type === "overflow") return overflow(element, block, place);
  const kept = place.state?.[block.block_id]?.[element.action_id];
  if (!kept) return unknown(element);
  const value = Object.entries(kept).find(([key]) => key !== "type")?.[1];
  const change = (entered) => tell("enter", { element, block, place, more: { value: entered } });
  const about = { id: unique(), "aria-labelledby": label, "data-action": element.action_id };
  if (!label) about["aria-label"] = element.placeholder?.text ?? "Choose";
  return input(element, { value, change, about });
}

/** An image with its title, if it has one. */
export function image({ image_url, alt_text, title }) {
  const picture = h("img", { src: image_url, alt: alt_text, loading: "lazy" });
  return title ? h("figure", {}, h("figcaption", {}, text(title)), picture) : picture;
}

/** Ask before something is done; resolves to whether to do it. */
export function confirmed(question) {
  if (!question) return Promise.resolve(true);
  return new Promise((resolve) => {
    const answer = (yes) => () => (dialog.remove(), resolve(yes));
    const style = question.style === "danger" ? "button.danger" : "button.primary";
    const dialog = h("dialog.modal.confirm", { oncancel: answer(false), "aria-label": "Confirm" },
      h("h2", {}, text(question.title)),
      h("div.rich", {}, text(question.text)),
      h("footer", {}, h("button", { onclick: answer(false) }, text(question.deny)),
        h(style, { onclick: answer(true) }, text(question.confirm))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Tell the server, after a question perhaps; a warning is shown beside the element `near`. */
async function tell(what, { element, block, place, more, near }) {
  if (!(await confirmed(element.confirm))) return;
  const id = { block_id: block.block_id, action_id: element.action_id };
  near?.setAttribute("aria-busy", "true");
  const { warning } = await act(what, { ...place.target, ...id, ...more });
  near?.removeAttribute("aria-busy");
  near?.parentNode?.querySelector(".triangle")?.remove();
  if (warning) near?.after(h("span.triangle", { role: "alert" }, "⚠ ", warning));
}

function button(element, block, place) {
  const onclick = ({ currentTarget: near }) => {
    if (element.url) window.open(element.url, "_blank", "noreferrer");
    tell("click", { element, block, place, near });
  };
  const about = { "data-action": element.action_id, "aria-label": element.accessibility_label };
  const tag = element.style ? `button.${element.style}` : "button";
  return h(tag, { type: "button", onclick, ...about }, text(element.text));
}

function overflow(element, block, place) {
  const items = element.options.map((option) => {
    const onclick = () => {
      menu.open = false;
      tell("click", { element, block, place, near: menu, more: { option: option.value } });
    };
    return h("button", { type: "button", onclick }, text(option.text));
  });
  const about = { "aria-label": "More actions", "data-action": element.action_id };
  const menu = h("details.menu", {}, h("summary", about, "⋯"), h("div", {}, items));
  return menu;
}

function input(element, { value, change, about }) {
  const kind = element.type;
  const onchange = (event) => change(event.target.value);
  const shared = { ...about, onchange, placeholder: element.placeholder?.text };
  if (PLAIN[kind]) return h("input", { ...shared, type: PLAIN[kind], value });
  if (RADIO[kind]) return choices(element, { value, change, about, type: RADIO[kind] });
  if (kind.startsWith("multi_")) return choices(element, { value, change, about, type: "checkbox" });
  if (kind.endsWith("select")) return select(element, { value, shared });
  if (kind === "datetimepicker") {
    const later = (event) => change(seconds(event.target.value));
    return h("input", { ...shared, type: "datetime-local", value: local(value), onchange: later });
  }
  const limit = { maxlength: element.max_length };
  if (kind === "number_input") return h("input", { ...shared, inputmode: "decimal", value });
  if (kind === "rich_text_input") return h("textarea", { ...shared, rows: 4 }, written(value));
  if (element.multiline) return h("textarea", { ...shared, ...limit, rows: 3 }, value);
  return kind === "plain_text_input" ? h("input", { ...shared, ...limit, value }) : unknown(element);
}

const chosen = (value) => [value].flat().filter(Boolean).map((each) => each.value ?? each);
const written = (value) => value?.elements?.flatMap((each) => each.elements.map((one) => one.text));

function offered(element) {
  if (element.type.includes("users_")) {
    const people = [...world.people.values()].filter((each) => !each.is_bot);
    return people.map(({ id }) => ({ value: id, text: { nodes: [nameOf(id)] } }));
  }
  if (/conversations|channels/.test(element.type)) {
    return world.channels.map(({ id, title }) => ({ value: id, text: { nodes: [title] } }));
  }
  const grouped = (element.option_groups ?? []).flatMap((each) => each.options);
  return [...(element.options ?? []), ...grouped];
}

function select(element, { value, shared }) {
  const [now] = chosen(value);
  const empty = h("option", { value: "" }, element.placeholder?.text ?? "Choose …");
  return h("select", shared, empty, offered(element).map((option) =>
    h("option", { value: option.value, selected: option.value === now }, text(option.text))));
}

function choices(element, { value, change, about, type }) {
  const now = chosen(value);
  const onchange = (event) => {
    const checked = [...event.currentTarget.querySelectorAll(":checked")].map((each) => each.value);
    change(type === "radio" ? checked[0] : checked);
  };
  return h("div.choices", { ...about, role: type === "radio" ? "radiogroup" : "group", onchange },
    offered(element).map((option) => h("label", {},
      h("input", { type, name: about.id, value: option.value, checked: now.includes(option.value) }),
      h("span", {}, text(option.text), h("small", {}, text(option.description))))));
}

/** Seconds as the person's clock shows them, in the form of a datetime-local input. */
function local(at) {
  if (!at) return undefined;
  const zone = { timeZone: world.person.tz ?? "UTC", dateStyle: "short", timeStyle: "short" };
  return new Intl.DateTimeFormat("sv-SE", zone).format(new Date(at * 1000)).replace(" ", "T");
}

function seconds(entered) {
  if (!entered) return null;
  const asUtc = (value) => Date.parse(`${value}Z`) / 1000;
  return 2 * asUtc(entered) - asUtc(local(asUtc(entered)));
}
