/** What the server told last, and the way to tell it what a person does. */

export const world = {
  person: null,
  people: new Map(),
  channels: [],
  modals: [],
  home: null,
  unread: {},
  facts: { rooms: {} },
};

let queue = Promise.resolve();

/** Take a snapshot over. */
export function learn(snapshot) {
  const people = new Map(snapshot.people.map((each) => [each.id, each]));
  Object.assign(world, snapshot, { people });
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
