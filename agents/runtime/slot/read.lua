#!lua flags=no-writes
-- read(events, state, approvals, posts, audit: whether it is wanted; from: the first event's index;
--      only: the approvals to read, else all; pending: and besides them those nobody decided yet)
--   -> {} | {version, now, created, updated, inbox, open, notes, events, state, approvals, outbox,
--            owed, places, audit, owner, lease, the audit's last hash}
if not exists then return {} end
local function part(wanted, ...) return wanted and call(...) or {} end
local function wanted()
  local ids = {}
  for _, id in each(a.only) do ids[id] = true end
  for _, field in ipairs(part(a.pending and number('pending') > 0, 'HKEYS', APPROVALS)) do
    local id = field:match('^status (.*)')
    if id and call('HGET', APPROVALS, field) == 'pending' then ids[id] = true end
  end
  return ids
end
local function approvals()
  if a.approvals then return call('HGETALL', APPROVALS) end
  local fields, found = { 'status', 'rev', 'digest', 'deadline', 'run_by', 'body' }, {}
  for id in pairs(wanted()) do
    local stored = approval(id)
    for n, field in ipairs(stored and fields or {}) do
      found[#found + 1] = field .. ' ' .. id
      found[#found + 1] = stored.raw[n]
    end
  end
  return found
end
return {
  call('LLEN', EVENTS), now, exists, meta('updated'), call('LLEN', INBOX) / 2,
  call('HGETALL', OPEN), call('HGETALL', NOTES),
  part(a.events, 'LRANGE', EVENTS, a.from or 0, -1), part(a.state, 'HGETALL', STATE),
  approvals(), part(a.posts, 'HGETALL', OUTBOX),
  part(a.posts, 'LRANGE', OWED, 0, -1), part(a.posts, 'HGETALL', PLACES),
  part(a.audit, 'LRANGE', AUDIT, 0, -1), meta('owner') or '', number('lease'),
  (call('LINDEX', AUDIT, -1) or ''):sub(1, 64),
}
