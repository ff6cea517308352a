/** The playground's page: a small Slack for the person in the address, `#/ana/expenses/1234.5678`. */

import { h, keyed } from "./page_dom.js";
import { avatar, composer, fill } from "./page_rooms.js";
import { home, showModal } from "./page_views.js";
import { act, bot, learn, nameOf, world } from "./page_world.js";

const $ = (id) => document.getElementById(id);
const wide = matchMedia("(min-width: 760px)");
let feed = null;
let open = false;
let [asked, visited, shown] = ["", "", ""];

const address = (...parts) => `#/${parts.join("/")}`.replace(/\/+$/, "");
const me = () => world.person.name;
const news = (room) => world.unread[world.person.id]?.[room.id] ?? {};
const sign = (locked) => (locked ? h("span.lock", { role: "img", "aria-label": "Private" }) : "#");
const count = (n) => n > 0 && h("i.count", { "aria-label": `${n} new` }, `${n}`);
const isReply = (each) => each.thread_ts && each.thread_ts !== each.ts;

/** Who looks at which channel and thread; on a wide screen some channel is always open. */
function route() {
  const [, who, where = "", thread = ""] = decodeURI(location.hash || "#/ana").split("/");
  const named = (room) => room.where === where || (room.is_im && where === "home");
  const room = world.channels.find(named) ?? (wide.matches ? first() : undefined);
  return { who, where, thread, room };
}

/** Where to begin: the first channel that an agent listens to. */
function first() {
  const { channels, facts } = world;
  return channels.find((room) => facts.rooms[room.id]?.agent) ?? channels[0];
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
  if (!location.hash) return history.replaceState(null, "", address(who, first().where)), render();
  const told = Boolean(thread && room?.messages.some((each) => each.ts === thread));
  document.title = `${room?.title ?? "Channels"} · ${nameOf(world.person.id)}`;
  document.body.dataset.pane = open ? "behind" : told ? "thread" : room ? "room" : "side";
  document.body.classList.toggle("with-thread", told);
  document.body.classList.toggle("with-behind", open);
  keyed($("people"), people(), face);
  keyed($("channels"), rows(room), row);
  if (room) showRoom(room, where);
  else $("log").replaceChildren();
  if (told) showThread(room, thread);
  else shown = $("replies").replaceChildren();
  if (open) showBehind(room, told ? thread : "");
  showModal();
}

function showRoom(room, where) {
  const atHome = room.is_im && where === "home";
  const facts = world.facts.rooms[room.id] ?? {};
  const view = { id: world.person.id, room: room.id, atHome, ...facts };
  const link = (ts) => address(me(), where || room.where, ts);
  const onsent = (ts) => wide.matches && !room.is_im && (location.hash = link(ts));
  if (atHome && visited !== me()) act("home");
  visited = atHome ? me() : "";
  $("log").hidden = atHome;
  $("home").hidden = !atHome;
  keyed($("room-head"), [["head", view]], () => head(room, facts, atHome));
  keyed($("home"), atHome ? [["home", [view.id, world.home?.hash]]] : [], home);
  keyed($("room-foot"), atHome ? [] : [["foot", view]], () =>
    composer({ room, thread: "", examples: facts.examples, onsent }));
  fill($("log"), room.messages.filter((each) => !atHome && !isReply(each)), { room, link });
  if (news(room).new) act("read", { channel: room.id });
}

function showThread(room, thread) {
  const said = room.messages.filter((each) => each.ts === thread || each.thread_ts === thread);
  const view = [world.person.id, room.id, thread];
  keyed($("thread-foot"), [["foot", view]], () => composer({ room, thread }));
  fill($("replies"), said, { room, thread });
  if (wide.matches && shown !== `${view}`) $("thread").querySelector("textarea").focus();
  shown = `${view}`;
}

/** The side panel, as the server tells it; an answer that comes too late is dropped. */
async function showBehind(room, thread) {
  const mine = (asked = `behind?channel=${room?.id ?? ""}&thread=${thread}`);
  const { sections } = await fetch(asked).then((response) => response.json());
  const line = ({ label, text, detail }) =>
    h("li", {}, h("b", {}, label), " ", text, detail && h("pre", {}, detail));
  if (mine === asked) keyed($("facts"), sections.map((each) => [each.title, each]), (each) =>
    h("section", {}, h("h3", {}, each.title), h("p", {}, each.about),
      h("ol", {}, each.lines.map(line))));
}

function head(room, { agent, about }, atHome) {
  const tab = (name, where, current) =>
    h("a.tab", { href: address(me(), where), "aria-current": current && "page" }, name);
  const tabs = [tab("Messages", "dm", !atHome), tab("Home", "home", atHome)];
  return h("div.title", {},
    h("h1", {}, !room.is_im && [sign(room.is_private), " "], room.title,
      room.is_ext_shared && h("span.tag", {}, "shared with another company")),
    room.is_im ? h("nav", { "aria-label": "App" }, tabs)
      : h("p", {}, agent && [h("b", {}, agent), " answers when mentioned. "], about));
}

/** The people one can be, each with what is new for them and where to look first. */
function people() {
  const every = [...world.people.values()].filter((each) => !each.is_bot && !each.deleted);
  return every.map(({ id, name, profile: { title } }) => {
    const fresh = Object.values(world.unread[id] ?? {}).filter((each) => each.mine);
    const [first] = fresh.sort((one, other) => other.cards - one.cards);
    const mine = fresh.reduce((sum, each) => sum + each.mine, 0);
    return [id, { id, name, title, mine, where: first?.where ?? "", me: id === world.person.id }];
  });
}

function face({ id, name, title, where, mine, me: here }) {
  const label = `Be ${nameOf(id)}, ${title}${mine ? `, ${mine} new` : ""}`;
  const about = { title: label, "aria-label": label, "aria-current": here && "true" };
  return h("a.face", { href: address(name, where), ...about }, avatar(id),
    h("span", {}, h("b", {}, nameOf(id).split(" ")[0]), h("small", {}, title)), count(mine));
}

function rows(current) {
  const line = (room) => [room.id, { ...news(room), as: me(), here: room === current,
    name: room.title, where: room.where, app: room.is_im, locked: room.is_private }];
  const isDirect = (room) => room.is_im || room.is_mpim;
  const named = world.channels.filter((room) => !isDirect(room));
  return [["channels", { label: "Channels" }], ...named.map(line),
    ["apps", { label: "Apps" }], ...world.channels.filter(isDirect).map(line)];
}

function row({ label, name, where, app, locked, here, new: any, mine }) {
  if (label) return h("li.label", { role: "presentation" }, label);
  const link = { href: address(me(), where), "aria-current": here && "page" };
  return h("li", {}, h(any ? "a.row.new" : "a.row", link,
    app ? avatar(bot().id) : h("i", {}, sign(locked)), h("span", {}, name), count(mine)));
}

function back() {
  const { thread, room, where } = route();
  if (open) return toggle();
  location.hash = thread ? address(me(), where || room.where) : address(me());
}

function toggle() {
  open = !open;
  $("toggle").ariaExpanded = open;
  render();
}

document.addEventListener("keydown", (event) => {
  const closes = event.key === "Escape" && !document.querySelector("dialog[open]");
  if (closes && (open || route().thread)) back();
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
document.addEventListener("visibilitychange", () => {
  if (document.hidden) feed.close();
  else connect(route().who);
});
wide.addEventListener("change", render);
connect(route().who);
