/** Slack's ways to write text, as nodes: mrkdwn, plain_text, rich_text, and Markdown. */

import { h } from "./page_dom.js";
import { day, moment, nameOf, roomName, world } from "./page_world.js";

const EMOJI = {
  bell: "🔔", calendar: "📅", eyes: "👀", hourglass: "⏳", lock: "🔒", "+1": "👍", "-1": "👎",
  tada: "🎉", thinking_face: "🤔", wave: "👋", warning: "⚠️", white_check_mark: "✅", x: "❌",
};
const styled = (mark) => `(?<![\\w${mark}])${mark}(?=\\S)([^${mark}\\n]*[^${mark}\\s])${mark}(?!\\w)`;
const INLINE = new RegExp(
  ["`([^`\\n]+)`", "<([^<>\\n]+)>", styled("\\*"), styled("_"), styled("~"), ":([a-z0-9_+-]+):"]
    .join("|"),
  "g",
);
const MARKDOWN = [
  [/\[([^\]\n]+)\]\(([^()\s]+)\)/g, "<$2|$1>"],
  [/^(\s*)[-*+] /gm, "$1• "],
  [/(?<![\w*])\*(?=[^\s*])([^*\n]+)\*(?!\*)/g, "_$1_"],
  [/\*\*(?=\S)(.+?)\*\*/g, "*$1*"],
  [/^#{1,6} (.*)$/gm, "*$1*"],
  [/~~(.+?)~~/g, "~$1~"],
  [/^>/gm, "&gt;"],
];
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const STYLES = { bold: "b", italic: "i", strike: "s", code: "code" };

const unescaped = (text) => text.replace(/&(?:lt|gt|amp);/g, (each) => ENTITIES[each]);
const withEmoji = (text) => text.replace(/:([a-z0-9_+-]+):/g, (all, name) => EMOJI[name] ?? all);

/** A text object of Block Kit. */
export function text(object) {
  if (!object) return [];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  return [object.emoji ? withEmoji(object.text) : object.text];
}

/** Slack's own markup, whose &, < and > are escaped. */
export function mrkdwn(source) {
  return source.split(/```([\s\S]+?)```/).flatMap((part, place) => {
    if (place % 2) return [h("pre", {}, unescaped(part.replace(/^\n/, "")))];
    return part.split(/((?:^&gt;.*\n?)+)/m).map((lines) =>
      lines.startsWith("&gt;")
        ? h("blockquote", {}, inline(lines.replace(/^&gt; ?/gm, "").trimEnd()))
        : inline(lines),
    );
  });
}

function inline(source) {
  return pieces(source, INLINE, unescaped, (all, code, angle, bold, italic, strike, emoji) => {
    if (code) return h("code", {}, unescaped(code));
    if (angle) return token(angle);
    if (emoji) return EMOJI[emoji] ?? all;
    return h(bold ? "b" : italic ? "i" : "s", {}, inline(bold ?? italic ?? strike));
  });
}

/** The text between the matches as `plain` makes it, and each match as `make` does. */
function pieces(source, pattern, plain, make) {
  const found = [];
  let at = 0;
  for (const match of source.matchAll(pattern)) {
    found.push(plain(source.slice(at, match.index)), make(...match));
    at = match.index + match[0].length;
  }
  return [...found, plain(source.slice(at))];
}

function token(inside) {
  const [target, label] = inside.split(/\|(.*)/s);
  if (target.startsWith("@")) return mention(target.slice(1));
  if (target.startsWith("#")) return channel(target.slice(1), label);
  const [kind, id, format] = target.split("^");
  if (kind === "!date") return date(Number(id), format, unescaped(label ?? ""));
  if (kind === "!subteam") return at(world.groups[id] ?? label?.replace(/^@/, "") ?? id);
  if (target.startsWith("!")) return at(target.slice(1));
  return link(unescaped(target), label && unescaped(label));
}

const at = (name, mine) => h(mine ? "span.mention.mine" : "span.mention", {}, `@${name}`);
const mention = (id) => at(nameOf(id), id === world.person.id);

function channel(id, label) {
  const room = world.channels.find((each) => each.id === id);
  if (!room) return h("span.mention", {}, `#${label ?? "a private channel"}`);
  return h("a.mention", { href: `#/${world.person.name}/${room.name}` }, `#${roomName(room)}`);
}

function link(target, label) {
  if (!/^(https?|mailto|tel):/.test(target)) return label ?? target;
  return h("a", { href: target, target: "_blank", rel: "noreferrer" }, label ?? target);
}

function date(seconds, format, fallback) {
  if (!Number.isFinite(seconds) || !format) return fallback;
  const month = /long/.test(format) ? "long" : "short";
  const long = { day: "numeric", month, year: /short/.test(format) ? undefined : "numeric" };
  const words = format.replace(/\{(\w+)\}/g, (all, name) => {
    if (name.startsWith("time")) return moment(seconds, { hour: "2-digit", minute: "2-digit" });
    if (name === "date_num") return moment(seconds, { dateStyle: "short" });
    if (name.endsWith("pretty")) return day(seconds, long);
    return name.startsWith("date") ? moment(seconds, long) : all;
  });
  return h("time", { title: fallback || undefined }, words);
}

/** A rich_text block's elements. */
export function richText(elements) {
  return elements.map((each) => {
    const inside = each.type === "rich_text_list" ? [] : each.elements?.map(piece);
    switch (each.type) {
      case "rich_text_section":
        return h("p", {}, inside);
      case "rich_text_preformatted":
        return h("pre", {}, inside);
      case "rich_text_quote":
        return h("blockquote", {}, inside);
      case "rich_text_list":
        return h(each.style === "ordered" ? "ol" : "ul", { "data-indent": each.indent || null },
          each.elements.map((item) => h("li", {}, item.elements.map(piece))));
      default:
        return unknown(each);
    }
  });
}

function piece(each) {
  switch (each.type) {
    case "text":
      return dressed(each.text, each.style);
    case "link":
      return link(each.url, each.text);
    case "user":
      return mention(each.user_id);
    case "usergroup":
      return at(world.groups[each.usergroup_id] ?? each.usergroup_id);
    case "channel":
      return channel(each.channel_id);
    case "broadcast":
      return at(each.range);
    case "emoji":
      return EMOJI[each.name] ?? `:${each.name}:`;
    case "date":
      return date(each.timestamp, each.format, each.fallback ?? "");
    default:
      return unknown(each);
  }
}

function dressed(words, style = {}) {
  const names = Object.keys(STYLES).filter((name) => style[name]);
  return names.reduce((inside, name) => h(STYLES[name], {}, inside), words);
}

/** What this page cannot show otherwise, as its JSON. */
export function unknown(thing) {
  const name = thing.type ?? "without a type";
  return h("details.unknown", { open: true }, h("summary", {}, `Not shown here: ${name}`),
    h("pre", {}, JSON.stringify(thing, null, 2)));
}

/** Markdown, as far as agents write it: headings, lists, quotes, code, links and emphasis. */
export function markdown(source) {
  const slacks = (words) => MARKDOWN.reduce((before, [from, to]) => before.replace(from, to), words);
  const parts = source.split(/(```[\s\S]+?```|`[^`\n]+`)/);
  return mrkdwn(parts.map((part, place) => (place % 2 ? part : slacks(part))).join(""));
}
