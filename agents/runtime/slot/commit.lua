-- commit(id, fence, version, pop, release, user, events, state, shared, opened, notes, closed, ended,
--        results, runs, approvals, settles, posts, audit)
--   -> {'ok', version, now, head, shared, owed, released} | {'fence'} | {'version'} | {'pop'}
-- events: {text, invocation, starts a turn, sums up}; opened: {cid, text, note}; notes, results, runs: {name,
-- text}, an empty text ends a run; state: name, text, name, text.

local function append(events)
  local version = call('LLEN', EVENTS)
  for i, event in each(events) do
    local at = version + i
    call('RPUSH', EVENTS, event[1])
    if event[2] ~= '' then
      call('HSET', TRACES, event[2], (call('HGET', TRACES, event[2]) or '') .. at .. ' ')
    end
    if event[3] then call('ZADD', ANCHORS, at, at) end
    if event[4] then call('HSET', META, 'summary', at) end
  end
  call('ZREMRANGEBYRANK', ANCHORS, 0, -1 - ANCHORS_KEPT)
end

local function change_calls()
  for _, cid in each(a.ended) do call('HDEL', JOURNAL, cid) end
  for _, opened in each(a.opened) do
    call('HSET', OPEN, opened[1], opened[2])
    call('HSET', NOTES, opened[1], opened[3])
  end
  for _, note in each(a.notes) do
    if call('HEXISTS', OPEN, note[1]) == 1 then call('HSET', NOTES, note[1], note[2]) end
  end
  for _, result in each(a.results) do call('HSET', JOURNAL, result[1], '=' .. result[2]) end
  for _, cid in each(a.closed) do
    call('HDEL', OPEN, cid)
    call('HDEL', NOTES, cid)
    call('HDEL', JOURNAL, cid, cid .. ':ask')
  end
end

-- Forgets the traces no window needs: as in stored.Stored.
local function prune()
  local version = call('LLEN', EVENTS)
  local oldest = tonumber(call('ZRANGE', ANCHORS, 0, 0)[1] or 1)
  traces(function(invocation, versions, waits)
    local first, last = versions[1], versions[#versions]
    local broken = last - first >= #versions and last >= oldest
    if not (broken or last == version or waits) then call('HDEL', TRACES, invocation) end
  end)
end

local function accompany()
  for _, opened in each(a.approvals) do
    if not approval(opened.id) then write(opened) end
  end
  for _, settle in each(a.settles) do
    local stored = approval(settle.id)
    for _, source in ipairs(settle.sources) do
      if stored and stored.status == source then
        move(settle.id, settle.status, stored.rev + 1)
        break
      end
    end
  end
  owe(a.posts)
  record(a.audit)
end

-- Who gave the session back and lost the answer asks again, perhaps after others have written.
local function is_stored()
  if meta('commit') == a.id then return true end
  local last = a.events and a.events[#a.events]
  if not last or not a.release or number('fence') == a.fence then return false end
  return call('LINDEX', EVENTS, a.version + #a.events - 1) == last[1]
end

if not exists then return { 'fence' } end
if not is_stored() then
  if number('fence') ~= a.fence then return { 'fence' } end
  if call('LLEN', EVENTS) ~= a.version then return { 'version' } end
  if a.pop and call('LINDEX', INBOX, 0) ~= a.pop then return { 'pop' } end
  call('HSET', META, 'commit', a.id, 'updated', now)
  if a.user then call('HSET', META, 'user', a.user) end
  if a.pop then call('LPOP', INBOX, 2) end
  append(a.events)
  for i = 1, #(a.state or {}), 2 do call('HSET', STATE, a.state[i], a.state[i + 1]) end
  share(a.shared)
  change_calls()
  for _, run in each(a.runs) do
    if run[2] == '' then call('HDEL', RUNS, run[1]) else call('HSET', RUNS, run[1], run[2]) end
  end
  prune()
  accompany()
  if a.release and call('LLEN', INBOX) == 0 then call('HSET', META, 'owner', '', 'lease', 0) end
  live()
end
local released = a.release and (meta('owner') == '' or number('fence') ~= a.fence)
return {
  'ok', call('LLEN', EVENTS), now, call('LRANGE', INBOX, 0, 1), call('LRANGE', SHARED, 0, -1),
  owed(a.posts), released and 1 or 0,
}
