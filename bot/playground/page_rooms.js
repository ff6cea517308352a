/** What is said in a channel or thread, and the box to write in. */

import { blocks } from "./page_blocks.js";
import { h, keyed, text } from "./page_dom.js";
import { act, bot, isForeign, nameOf, world } from "./page_world.js";

const drafts = new Map();

/** A person's initials on their colour, or the bot's mark. */
export function avatar(id) {
  const person = world.people.get(id);
  if (!person || person.is_bot) return h("span.avatar.bot", { "aria-hidden": "true" }, "✓");
  const hue = [...person.id].reduce((sum, each) => (sum * 31 + each.charCodeAt()) % 360, 7);
  return h("span.avatar", { style: `--hue: ${hue}`, "aria-hidden": "true" }, nameOf(id).slice(0, 2));
}

/** Fill a log with messages, keeping those that did not change, and stay at the end of it. */
export function fill(log, messages, { room, thread, link }) {
  const where = [world.person.id, room.id, thread].join();
  const atEnd = log.where !== where || log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  log.where = where;
  const items = messages.map((message, place) => {
    const before = messages[place - 1];
    const status = room.statuses[message.ts];
    return [message.ts, { ...message, state: undefined, as: world.person.id, thread, status,
      first: message.day !== before?.day, follows: follows(before, message) }];
  });
  const state = new Map(messages.map((each) => [each.ts, each.state]));
  keyed(log, items, (told) => article(told, { room, link, state: state.get(told.ts) }));
  if (atEnd) log.scrollTop = log.scrollHeight;
}

/** Whether a message goes on from the one before, so that its author is clear. */
function follows(before, { user, ts, is_ephemeral, blocks: made = [] }) {
  const said = made.every((each) => each.type === "rich_text") && !is_ephemeral;
  return said && before?.user === user && !before.is_ephemeral && ts - before.ts < 300;
}

function article(told, { room, link, state }) {
  const { ts, user, is_ephemeral } = told;
  const place = { target: { channel: room.id, ts }, state: state?.values };
  const dismiss = () => act("dismiss", { channel: room.id, ts });
  const inside = told.blocks ? blocks(told.blocks, place) : h("div.rich", {}, text(told));
  const kind = `${told.follows ? ".follows" : ""}${is_ephemeral ? ".private" : ""}`;
  return h("div.entry", {},
    told.first && !told.thread && h("div.day", { role: "separator" }, h("span", {}, told.day)),
    h(`article.message${kind}`, { "aria-label": `${nameOf(user)}, ${told.time}` },
      avatar(user),
      h("div.body", {},
        is_ephemeral && h("div.only", {}, "Only visible to you ",
          h("button.plain", { onclick: dismiss }, "Dismiss")),
        h("div.head", {}, h("b", {}, nameOf(user)), told.bot_id && h("span.tag", {}, "APP"),
          isForeign(user) && h("span.tag", {}, "other company"),
          h("time", { title: told.day }, told.time)),
        h("div.blocks", {}, inside, told.edited && !told.bot_id && h("small", {}, " (edited)")),
        told.reactions?.map((each) => h("span.reaction", {}, `:${each.name}: ${each.count}`)),
        told.status && !told.thread && thinking(told.status),
        link && !is_ephemeral && (told.reply_count ? replies(told, link(ts)) : reply(link(ts))))));
}

const reply = (href) => h("a.reply", { href }, "Reply in thread");

function replies({ reply_count: count, reply_users: users, latest_time: latest }, href) {
  const told = `${count} ${count > 1 ? "replies" : "reply"}`;
  return h("a.replies", { href }, users.map(avatar), h("b", {}, told),
    h("small", {}, ` last at ${latest}`));
}

/** What the bot says it is doing. */
export function thinking(status) {
  return h("p.thinking", { role: "status" }, h("i"), `${nameOf(bot().id)} ${status}`);
}

/** The box to write in; what is not sent yet stays for when one comes back. */
export function composer({ room, thread, examples, onsent }) {
  const key = `${world.person.id} ${room.id} ${thread}`;
  const mention = room.is_im || thread ? "" : `@${bot().name} `;
  const box = h("textarea", { rows: 1, "aria-label": `Message ${room.title}`, onkeydown, oninput,
    placeholder: thread ? "Reply …" : `Message ${room.is_im ? "" : "#"}${room.title}` });
  const foreign = isForeign(bot().id) ? `${nameOf(bot().id)} answers its own company only.` : "";
  const hint = h("small", { "aria-live": "polite" }, foreign);
  const names = mentions(box, room, oninput);
  const write = (words) => {
    box.value = words;
    oninput();
    box.focus();
  };

  function oninput() {
    drafts.set(key, box.value);
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 180)}px`;
    const deaf = mention && /^[^/]/.test(box.value) && !box.value.includes(mention.trim());
    hint.textContent = foreign || (deaf ? `Only people will read this: ${mention} calls the agent.` : "");
    names.offer();
  }

  function onkeydown(event) {
    if (names.takes(event) || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  }

  async function send() {
    const words = box.value.trim();
    if (!words) return;
    write("");
    const command = words.startsWith("/") && !thread;
    const said = await act(command ? "command" : "say", { channel: room.id, thread, text: words });
    if (said.warning) write(words);
    if (said.warning) hint.textContent = `⚠ ${said.warning}`;
    if (said.ts && words.includes(mention.trim())) onsent?.(said.ts);
  }

  box.value = drafts.get(key) ?? "";
  return h("div.composer", {},
    !foreign && examples?.length && h("div.examples", {}, h("small", {}, "Try"), examples.map((words) =>
      h("button.chip", { onclick: () => write(mention + words) }, words))),
    h("div.box", {}, box, names.list,
      mention && h("button.plain", { title: "Mention the bot", "aria-label": "Mention the bot",
        onclick: () => write(mention + box.value) }, "@"),
      h("button.send", { "aria-label": "Send", onclick: send }, "➤")),
    hint);
}

/** The names that fit what is typed after an @, to be picked by key or click. */
function mentions(box, room, changed) {
  const list = h("div.names", { role: "listbox", "aria-label": "People", hidden: true });
  const pick = (name) => {
    const before = box.value.slice(0, box.selectionStart).replace(/\w*$/, `${name} `);
    box.value = before + box.value.slice(box.selectionStart);
    box.setSelectionRange(before.length, before.length);
    changed();
  };
  const offer = () => {
    const typed = /(?:^|\s)@(\w*)$/.exec(box.value.slice(0, box.selectionStart))?.[1];
    const fits = room.members.map((id) => world.people.get(id)).filter((each) =>
      typed !== undefined && each.name !== typed && each.name.startsWith(typed.toLowerCase()));
    fits.sort((one, other) => other.is_bot - one.is_bot);
    list.replaceChildren(...fits.map(({ id, name }, place) => {
      const onclick = () => (pick(name), box.focus());
      const about = { type: "button", role: "option", "aria-selected": `${!place}`, onclick };
      return h("button", about, avatar(id), nameOf(id), h("small", {}, `@${name}`));
    }));
    list.hidden = !fits.length;
  };
  const takes = (event) => {
    const every = [...list.children];
    const at = every.findIndex((each) => each.ariaSelected === "true");
    if (list.hidden || at < 0) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      every[at].ariaSelected = "false";
      every.at((at + step) % every.length).ariaSelected = "true";
    } else if (event.key === "Enter" || event.key === "Tab") every[at].click();
    else if (event.key === "Escape") list.hidden = true;
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { list, offer, takes };
}
