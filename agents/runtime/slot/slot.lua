-- What every script of a slot begins with.
-- KEYS: as listed in keys.SLOT. ARGV[1]: a JSON object, `a` below; a.ttl is the slot's lifetime in ms.
-- Values are texts made by Python: cjson would turn [] into {}, so nothing is encoded here.
local META, EVENTS, STATE, ANCHORS, TRACES, RUNS, OPEN, NOTES, JOURNAL, INBOX, SEEN, OUTBOX, OWED,
  PLACES, PAID, APPROVALS, AUDIT, SHARED = unpack(KEYS)
local WEEK = 7 * 24 * 3600 * 1000

local call = redis.call
local a = cjson.decode(ARGV[1])
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function meta(field) return call('HGET', META, field) end
local function number(field) return tonumber(meta(field) or 0) end
local function each(list) return ipairs(list or {}) end
local exists = meta('created')

-- Ends every change: the slot lives a.ttl from now, a week past the latest deadline of an approval,
-- and without end while a call is open or an approval pending.
local function live()
  local waits = call('EXISTS', OPEN) == 1 or number('pending') > 0
  local till = math.max(now + a.ttl, number('keep'))
  for _, key in ipairs(KEYS) do
    if waits then call('PERSIST', key) else call('PEXPIREAT', key, till) end
  end
end

-- Appends to the inbox; false when the id was seen within DEDUPE_MS.
local function put(id, body)
  call('ZREMRANGEBYSCORE', SEEN, '-inf', '(' .. now - DEDUPE_MS)
  if call('ZADD', SEEN, 'NX', now, id) == 0 then return false end
  call('RPUSH', INBOX, id, body)
  return true
end

-- Owes posts ({id, text} each) that were never owed.
local function owe(posts)
  for _, post in each(posts) do
    if call('HEXISTS', PLACES, post[1]) == 0 and call('HSETNX', OUTBOX, post[1], post[2]) == 1 then
      call('RPUSH', OWED, post[1])
    end
  end
end

-- Which of these posts are owed: not those that were paid once.
local function owed(posts)
  local found = {}
  for _, post in each(posts) do
    if call('HEXISTS', OUTBOX, post[1]) == 1 then found[#found + 1] = post[1] end
  end
  return found
end

-- Queues app: and user: changes (JSON) for their own slots, under a stamp (µs) that only grows.
local function share(changes)
  if not changes then return end
  local stamp = math.max(clock[1] * 1000000 + clock[2], number('stamp') + 1)
  call('HSET', META, 'stamp', stamp)
  call('RPUSH', SHARED, string.format('%.0f ', stamp) .. changes)
end

local function approval(id)
  local stored = call('HMGET', APPROVALS, 'status ' .. id, 'rev ' .. id, 'digest ' .. id,
    'deadline ' .. id, 'run_by ' .. id, 'body ' .. id)
  return stored[1] and {
    status = stored[1], rev = tonumber(stored[2]), digest = stored[3],
    deadline = tonumber(stored[4]), run_by = tonumber(stored[5]), body = stored[6], raw = stored,
  }
end

-- Calls visit(invocation, versions, waits) for what TRACES remembers; `waits` when the invocation is
-- open or has an open call.
local function traces(visit)
  local pinned, found = {}, call('HGETALL', TRACES)
  for _, text in ipairs(call('HVALS', OPEN)) do pinned[cjson.decode(text).version] = true end
  for i = 1, #found, 2 do
    local versions, waits = {}, call('HEXISTS', RUNS, found[i]) == 1
    for text in found[i + 1]:gmatch('%d+') do
      local version = tonumber(text)
      versions[#versions + 1] = version
      waits = waits or pinned[version]
    end
    visit(found[i], versions, waits)
  end
end

-- The only place that changes a status: the pending ones are counted.
local function move(id, status, rev)
  local before = call('HGET', APPROVALS, 'status ' .. id)
  local change = (status == 'pending' and 1 or 0) - (before == 'pending' and 1 or 0)
  if change ~= 0 then call('HINCRBY', META, 'pending', change) end
  call('HSET', APPROVALS, 'status ' .. id, status, 'rev ' .. id, rev)
end

-- Writes an approval whole; `record` has the fields of port.Record, body as text.
local function write(record)
  local id = record.id
  move(id, record.status, record.rev)
  call('HSET', APPROVALS, 'digest ' .. id, record.digest, 'deadline ' .. id, record.deadline or '',
    'run_by ' .. id, record.run_by or '', 'body ' .. id, record.body)
  if record.deadline and record.deadline + WEEK > number('keep') then
    call('HSET', META, 'keep', record.deadline + WEEK)
  end
end
