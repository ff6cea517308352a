/** The playground's page: a small Slack for the person in the address, `#/ana/expenses/1234.5678`. */

import { behind } from "./page_behind.js";
import { h, keyed } from "./page_dom.js";
import { avatar, composer, fill } from "./page_rooms.js";
import { home, showModal } from "./page_views.js";
import { act, bot, isForeign, learn, nameOf, roomName, world } from "./page_world.js";

const $ = (id) => document.getElementById(id);
const wide = matchMedia("(min-width: 760px)");
let feed = null;
let open = false;

const address = (...parts) => `#/${parts.join("/")}`.replace(/\/+$/, "");
const me = () => world.person.name;
const badge = (id, room) => world.unread[id]?.[room] ?? {};

/** Who looks at which channel and thread; on a wide screen some channel is always open. */
function route() {
  const [, who, where = "", thread = ""] = decodeURI(location.hash || "#/ana").split("/");
  const fallback = wide.matches ? world.channels.find((each) => world.facts.rooms[each.id]) : null;
  const named = (room) => (room.is_im ? ["dm", "home"].includes(where) : room.name === where);
  return { who, where, thread, room: world.channels.find(named) ?? fallback };
}

function connect(who) {
  feed?.close();
  feed = new EventSource(`events?as=${encodeURIComponent(who)}`);
  feed.addEventListener("facts", (event) => (world.facts = JSON.parse(event.data)));
  feed.onmessage = (event) => (learn(JSON.parse(event.data)), render());
  feed.onopen = () => ($("gone").hidden = true);
  feed.onerror = () => ($("gone").hidden = false);
}

function render() {
  const { who, where, thread, room } = route();
  if (who !== world.person?.name) return connect(who);
  const told = room && thread && room.messages.some((each) => each.ts === thread);
  document.title = `${room ? roomName(room) : "Channels"} · ${nameOf(world.person.id)}`;
  document.body.dataset.pane = open ? "behind" : told ? "thread" : room ? "room" : "side";
  document.body.classList.toggle("with-thread", Boolean(told));
  document.body.classList.toggle("with-behind", open);
  keyed($("people"), people().map((each) => [each.id, each]), face);
  keyed($("channels"), rows(room, where), row);
  if (room) showRoom(room, where);
  if (told) showThread(room, thread);
  if (open) behind($("facts"), room, thread);
  showModal();
}

const isReply = (each) => each.thread_ts && each.thread_ts !== each.ts;

function showRoom(room, where) {
  const atHome = room.is_im && where === "home";
  const facts = world.facts.rooms[room.id] ?? {};
  const view = { id: world.person.id, room: room.id, atHome, ...facts };
  const said = atHome ? [] : room.messages.filter((each) => !isReply(each));
  keyed($("room-head"), [["head", view]], () => head(room, facts, atHome));
  $("log").hidden = atHome;
  $("home").hidden = !atHome;
  fill($("log"), said, { room, link: (ts) => address(me(), where || room.name, ts) });
  keyed($("home"), atHome ? [["home", [view.id, world.home?.hash]]] : [], home);
  const onsent = (ts) => wide.matches && !room.is_im && go(me(), room.name, ts);
  keyed($("room-foot"), atHome ? [] : [["foot", view]], () =>
    composer({ room, thread: "", examples: facts.examples, onsent }));
  if (!document.hidden && badge(world.person.id, room.id).new) act("read", { channel: room.id });
}

function showThread(room, thread) {
  const said = room.messages.filter((each) => each.ts === thread || each.thread_ts === thread);
  keyed($("thread-foot"), [["foot", [world.person.id, room.id, thread]]], () =>
    composer({ room, thread }));
  fill($("replies"), said, { room, thread });
}

const sign = (locked) => (locked ? h("span.lock", { role: "img", "aria-label": "Private" }) : "#");

function head(room, { agent, about }, atHome) {
  const tab = (name, where, current) =>
    h("a.tab", { href: address(me(), where), "aria-current": current && "page" }, name);
  return h("div.title", {},
    h("h1", {}, !room.is_im && [sign(room.is_private), " "], roomName(room),
      room.is_ext_shared && h("span.tag", {}, "shared with another company")),
    room.is_im
      ? h("nav", { "aria-label": "App" }, tab("Messages", "dm", !atHome), tab("Home", "home", atHome))
      : h("p", {}, agent && h("b", {}, agent), agent ? ` answers when mentioned. ${about}` : about));
}

/** The people one can be, each with where to look first. */
function people() {
  return [...world.people.values()].filter((each) => !each.is_bot && !each.deleted).map(({ id, name }) => {
    const news = Object.entries(world.unread[id] ?? {}).filter(([, each]) => each.mine);
    const [first] = news.sort(([, one], [, other]) => other.cards - one.cards);
    const waiting = news.reduce((sum, [, each]) => sum + each.mine, 0);
    return { id, name, waiting, where: first?.[1].where ?? "", mine: id === world.person.id };
  });
}

function face({ id, name, where, waiting, mine }) {
  const { title } = world.people.get(id).profile;
  const label = `${nameOf(id)}, ${title}${waiting ? `, ${waiting} new` : ""}`;
  return h("a.face", { href: address(name, where), title: label, "aria-label": `Be ${label}`,
    "aria-current": mine && "true" }, avatar(id), h("span", {}, h("b", {}, nameOf(id).split(" ")[0]),
    h("small", {}, isForeign(id) && mine ? title : title)), waiting > 0 && h("i.count", {}, waiting));
}

function rows(current) {
  const named = world.channels.filter((each) => !each.is_im && !each.is_mpim);
  const direct = world.channels.filter((each) => each.is_im || each.is_mpim);
  return [["c", { label: "Channels" }], ...named.map(line), ["d", { label: "Apps" }], ...direct.map(line)];

  function line(room) {
    const { mine: count, new: any } = badge(world.person.id, room.id);
    const told = { count, any, name: roomName(room), here: room === current };
    return [room.id, { ...told, where: room.is_im ? "dm" : room.name, app: room.is_im,
      lock: room.is_private }];
  }
}

function row({ label, name, lock, where, app, count, any, here }) {
  if (label) return h("li.label", { role: "presentation" }, label);
  return h("li", {}, h(any ? "a.row.new" : "a.row", { href: address(me(), where),
    "aria-current": here && "page" }, app ? avatar(bot().id) : h("i", {}, sign(lock)),
    h("span", {}, name), count > 0 && h("i.count", { "aria-label": `${count} new` }, count)));
}

function back() {
  const { thread, room, where } = route();
  if (open) return toggle();
  location.hash = thread ? address(me(), where || room.name) : address(me());
}

function go(...parts) {
  location.hash = address(...parts);
}

function toggle() {
  open = !open;
  $("toggle").ariaExpanded = open;
  render();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]") && (open || route().thread)) back();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...$("channels").querySelectorAll("a")];
  const place = links.indexOf(document.activeElement);
  if (!step || place < 0) return;
  event.preventDefault();
  links.at((place + step) % links.length).focus();
});
for (const each of document.querySelectorAll(".back")) each.addEventListener("click", back);
$("toggle").addEventListener("click", toggle);
window.addEventListener("hashchange", render);
document.addEventListener("visibilitychange", () => world.person && render());
wide.addEventListener("change", render);
connect(route().who);
