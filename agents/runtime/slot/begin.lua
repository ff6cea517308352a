-- begin(owner, lease, window, size, since)
--   -> {'none', now} | {'busy', until, now}
--    | {'begun', fence, version, now, attempt, deaths, head, events, state, runs, open, notes, journal,
--       outbox, owed, shared, user, created, before}
if not exists then return { 'none', now } end
local owner = meta('owner') or ''
if owner ~= '' and owner ~= a.owner and number('lease') > now then
  -- Of an owner who does not say it, such as an older release, only what no lease can be.
  local of, length = string.match(meta('length') or '', '^(%d+):(-?%d+)$')
  local longest = now + (tonumber(of) == number('fence') and tonumber(length) or 3600000)
  if number('lease') > longest then
    -- From the future: the clock was set back since. Who is there renews it, who is not loses it.
    call('HSET', META, 'lease', longest)
  end
  return { 'busy', number('lease'), now }
end

local died = owner ~= '' and number('lease') <= now
local version = call('LLEN', EVENTS)
local head = call('LRANGE', INBOX, 0, 1)
local attempted = head[1] and '+' .. head[1] or '=' .. version
local same = meta('attempted') == attempted
local attempt = (same and number('attempt') or 0) + 1
local deaths = (same and number('deaths') or 0) + (died and 1 or 0)
-- Grows across deletion and loss of the slot, too, because time does.
local before = number('fence')
local fence = math.max(before + 1, now)
call('HSET', META, 'owner', a.owner, 'lease', now + a.lease, 'fence', fence,
  'length', string.format('%.0f:%.0f', fence, a.lease),
  'attempted', attempted, 'attempt', attempt, 'deaths', deaths)

-- The oldest turn start from which on there are few enough events and bytes, at least the newest;
-- what the caller has is not counted.
local function window()
  local from = math.max(version - a.window, a.since) + 1
  local sizes, total = {}, 0
  for i, event in ipairs(call('LRANGE', EVENTS, from - 1, -1)) do
    sizes[from + i - 1] = #event
    total = total + #event
  end
  if from == a.since + 1 and total <= a.size then return from end

  local starts = call('ZRANGE', ANCHORS, 0, -1)
  local first, at = tonumber(starts[#starts] or 1), version
  total = 0
  for i = #starts, 1, -1 do
    local start = tonumber(starts[i])
    if start < from then break end
    for newer = start, at do total = total + sizes[newer] end
    if total > a.size then break end
    first, at = start, start - 1
  end
  return first
end
local first = window()

local open = call('HGETALL', OPEN)
local wanted = { [number('summary')] = true }
for i = 2, #open, 2 do wanted[cjson.decode(open[i]).version] = true end
traces(function(_, versions, waits)
  if waits or versions[#versions] >= first then
    for _, version in ipairs(versions) do wanted[version] = true end
  end
end)
local older = {}
for version in pairs(wanted) do
  if a.since < version and version < first then older[#older + 1] = version end
end
table.sort(older)

local events = {}
for i, version in ipairs(older) do events[i] = call('LINDEX', EVENTS, version - 1) end
for _, event in ipairs(call('LRANGE', EVENTS, math.max(first, a.since + 1) - 1, -1)) do
  events[#events + 1] = event
end

return {
  'begun', fence, version, now, attempt, deaths, head, events, call('HGETALL', STATE),
  call('HGETALL', RUNS), open, call('HGETALL', NOTES), call('HGETALL', JOURNAL),
  call('HGETALL', OUTBOX), call('LRANGE', OWED, 0, -1), call('LRANGE', SHARED, 0, -1),
  meta('user'), exists, before,
}
