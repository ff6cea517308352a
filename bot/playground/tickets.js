// The tickets of the bundled ticket system, and the buttons that move them along.

const MOVES = [
  ["In progress, 30 %", { status: "in_progress", progress: 30 }, ""],
  ["In progress, 80 %", { status: "in_progress", progress: 80 }, ""],
  ["Resolved", { status: "resolved" }, "primary"],
  ["Rejected", { status: "rejected" }, "danger"],
  ["Delete", { status: "deleted" }, ""],
];
const EVERY = 1500;
const list = document.querySelector("#list");
const gone = document.querySelector("#gone");
const shown = new Map();

function made(name, attributes = {}, ...inside) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...inside);
  return element;
}

function card(id) {
  const note = made("input", { ariaLabel: "What to say about it", placeholder: "What to say about it (optional)", maxLength: 1000 });
  const buttons = MOVES.map(([text, move, look]) => {
    const button = made("button", { type: "button", className: look }, text);
    button.addEventListener("click", async () => {
      if (await send(id, { ...move, note: note.value }, button)) note.value = "";
    });
    return button;
  });
  const form = made("form", { onsubmit: (event) => event.preventDefault() }, note, ...buttons);
  const parts = { subject: made("h2"), state: made("span", { className: "state" }), facts: made("small"), said: made("blockquote") };
  parts.whole = made("article", {}, made("header", {}, parts.subject, parts.state, parts.facts), parts.said, form);
  return parts;
}

function show(ticket) {
  const parts = shown.get(ticket.id) ?? card(ticket.id);
  const progress = ticket.progress === null ? "" : `, ${ticket.progress} %`;
  parts.subject.textContent = ticket.subject;
  parts.state.textContent = ticket.status.replace("_", " ") + progress;
  parts.facts.textContent = `${ticket.id} · urgency ${ticket.urgency}`;
  parts.said.textContent = ticket.note;
  parts.whole.dataset.final = ticket.final;
  parts.whole.dataset.id = ticket.id;
  if (!shown.has(ticket.id)) list.append(parts.whole);
  shown.set(ticket.id, parts);
}

async function refresh() {
  const response = await fetch("tickets.json");
  if (!response.ok) throw new Error(await response.text());
  const tickets = await response.json();
  const there = new Set(tickets.map((ticket) => ticket.id));
  for (const [id, parts] of shown) {
    if (!there.has(id)) { parts.whole.remove(); shown.delete(id); }
  }
  tickets.forEach(show);
  document.querySelector("#none").hidden = tickets.length > 0;
}

async function send(id, move, button) {
  button.setAttribute("aria-busy", "true");
  const done = await attempt(async () => {
    const response = await fetch(`tickets/${encodeURIComponent(id)}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(move),
    });
    if (!response.ok) throw new Error(await response.text());
    await refresh();
  });
  button.removeAttribute("aria-busy");
  return done;
}

async function attempt(what) {
  try {
    await what();
    gone.hidden = true;
    return true;
  } catch (error) {
    gone.textContent = error instanceof TypeError ? "The playground has stopped. Start it again with make playground." : error.message;
    gone.hidden = false;
    return false;
  }
}

for (;;) {
  await attempt(refresh);
  await new Promise((resolve) => setTimeout(resolve, EVERY));
}
