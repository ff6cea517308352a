/** Elements made of data: text only ever becomes text nodes, never markup. */

/** An element: `h("p.small", { title: "…" }, "text", child)`; `on…` are its listeners. */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) {
      node.setAttribute(key, value === true ? "" : value);
    }
  }
  node.append(...children.flat(Infinity).filter(Boolean));
  return node;
}

/** The elements of a text in Slack's markup, which the server took apart. */
export function text(told) {
  const built = (each) => (typeof each === "string" ? each : h(each[0], each[1], each[2].map(built)));
  return told?.nodes?.map(built) ?? [];
}

/** What this page cannot show otherwise, as its JSON. */
export function unknown(thing) {
  return h("details.unknown", { open: true }, h("summary", {}, `Not shown here: ${thing.type}`),
    h("pre", {}, JSON.stringify(thing, null, 2)));
}

/** Give `parent` one child for each [key, value]; whose value is as before stays as it is. */
export function keyed(parent, items, make) {
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const wanted = items.map(([key, value]) => {
    const signature = JSON.stringify(value);
    const kept = old.get(key);
    if (kept?.signature === signature) return kept;
    const node = make(value);
    node.dataset.key = key;
    node.signature = signature;
    return node;
  });
  const stays = new Set(wanted);
  for (const node of old.values()) if (!stays.has(node)) node.remove();
  wanted.forEach((node, place) => {
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] ?? null);
  });
}

let ids = 0;

/** An id no other element has. */
export function unique() {
  ids += 1;
  return `e${ids}`;
}
