/** Block Kit as elements; a block nobody knows here is shown as its JSON. */

import { h, text, unique, unknown } from "./page_dom.js";
import { control, image } from "./page_inputs.js";

const BLOCKS = {
  actions: (block, place) =>
    h("div.actions", {}, block.elements.map((each) => control(each, block, { place }))),
  context: (block) =>
    h("div.context", {}, block.elements.map((each) =>
      each.type === "image" ? image(each) : h("span.rich", {}, text(each)))),
  divider: () => h("hr"),
  header: (block) => h("h3", {}, text(block.text)),
  image,
  input: field,
  markdown: (block) => h("div.rich", {}, text(block)),
  rich_text: (block) => h("div.rich", {}, text(block)),
  section,
  table: (block) =>
    h("div.scroll", {}, h("table", {}, block.rows.map((row, place) =>
      h("tr", {}, row.map((cell) => h(place ? "td" : "th", {}, cell.text ?? text(cell))))))),
};

/** The blocks of a message or view; `place` is {target, state}: where, and what stands there. */
export function blocks(list, place) {
  return list.map((block) => (BLOCKS[block.type] ?? unknown)(block, place));
}

function section(block, place) {
  const fields = block.fields?.map((each) => h("div.rich", {}, text(each)));
  return h("div.section", {},
    h("div", {}, block.text && h("div.rich", {}, text(block.text)),
      fields && h("div.fields", {}, fields)),
    block.accessory && control(block.accessory, block, { place }));
}

function field(block, place) {
  const label = unique();
  const made = control(block.element, block, { place, label });
  return h("div.field", { "data-block": block.block_id },
    h("label", { id: label, for: made.id || null }, text(block.label),
      block.optional && h("small", {}, " (optional)")),
    made,
    block.hint && h("small", {}, text(block.hint)));
}
