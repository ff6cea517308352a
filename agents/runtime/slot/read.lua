#!lua flags=no-writes
-- read(events, state, approvals, posts, audit: whether it is wanted; from: the first event's index)
--   -> {} | {version, now, created, updated, inbox, open, notes, events, state, approvals, outbox,
--            owed, places, audit, owner, lease}
if not exists then return {} end
local function part(wanted, ...) return wanted and call(...) or {} end
return {
  call('LLEN', EVENTS), now, exists, meta('updated'), call('LLEN', INBOX) / 2,
  call('HGETALL', OPEN), call('HGETALL', NOTES),
  part(a.events, 'LRANGE', EVENTS, a.from or 0, -1), part(a.state, 'HGETALL', STATE),
  part(a.approvals, 'HGETALL', APPROVALS), part(a.posts, 'HGETALL', OUTBOX),
  part(a.posts, 'LRANGE', OWED, 0, -1), part(a.posts, 'HGETALL', PLACES),
  part(a.audit, 'LRANGE', AUDIT, 0, -1), meta('owner') or '', number('lease'),
}
