/** The side panel: what is stored about the thread one looks at. */

import { h, keyed } from "./page_dom.js";

let asked = "";

/** Show what stands behind a thread, or a channel without one, as the server tells it. */
export async function behind(panel, room, thread) {
  asked = `behind?channel=${room?.id ?? ""}&thread=${thread}`;
  const mine = asked;
  const { sections } = await fetch(asked).then((response) => response.json());
  if (mine !== asked) return;
  keyed(panel, sections.map((each) => [each.title, each]), section);
}

function section({ title, about, lines }) {
  return h("section", {}, h("h3", {}, title), about && h("p", {}, about),
    h("ol", {}, lines.map(({ label, text, detail }) =>
      h("li", {}, h("b", {}, label), " ", h("span", {}, text), detail && h("pre", {}, detail)))));
}
