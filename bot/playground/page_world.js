/** What the server told last, and the way to tell it what a person does. */

export const world = {
  person: null,
  people: new Map(),
  groups: {},
  channels: [],
  modals: [],
  home: null,
  unread: {},
  facts: { agents: {}, model: {} },
};

let queue = Promise.resolve();

/** Take a snapshot over. */
export function learn(snapshot) {
  Object.assign(world, snapshot, { people: new Map(snapshot.people.map((each) => [each.id, each])) });
}

/** Do something as the person; acts go one after another, each resolves to {warning, errors}. */
export function act(what, body = {}) {
  const sent = JSON.stringify({ ...body, as: world.person.name });
  queue = queue.then(() => send(what, sent));
  return queue;
}

async function send(what, body) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`do/${what}`, { method: "POST", headers, body });
    return await response.json();
  } catch {
    return { warning: "The playground does not answer. Is it still running?", errors: {} };
  }
}

/** A person's full name; an id that nobody has stays an id. */
export const nameOf = (id) => world.people.get(id)?.profile.real_name ?? id;

/** The bot's user. */
export const bot = () => [...world.people.values()].find((each) => each.is_bot);

/** Whether somebody belongs to another company than the person. */
export const isForeign = (id) =>
  (world.people.get(id)?.team_id ?? world.person.team_id) !== world.person.team_id;

/** What a channel is called on the screen. */
export function roomName(room) {
  if (room.is_im) return nameOf(bot().id);
  if (!room.is_mpim) return room.name;
  const others = room.members.filter((id) => id !== world.person.id);
  return others.map(nameOf).join(", ");
}

/** Text of a time in the person's zone, in the words of Intl.DateTimeFormat's options. */
export function moment(seconds, options) {
  const zone = { timeZone: world.person.tz ?? "UTC", hourCycle: "h23" };
  return new Intl.DateTimeFormat("en-GB", { ...zone, ...options }).format(new Date(seconds * 1000));
}

/** A day as "today", "yesterday", "tomorrow" or in words. */
export function day(seconds, options = { day: "numeric", month: "long" }) {
  const key = (at) => moment(at, { year: "numeric", month: "numeric", day: "numeric" });
  const now = Date.now() / 1000;
  const near = { yesterday: now - 86400, today: now, tomorrow: now + 86400 };
  const word = Object.keys(near).find((each) => key(near[each]) === key(seconds));
  return word ?? moment(seconds, options);
}
