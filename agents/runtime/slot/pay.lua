-- Behind slot.lua in the scripts that strike posts off. Posts are as told in port.Post.
local MAY_CHANGE = { pending = true, approved = true, started = true, unknown = true }

-- Which post this one changes, and whether the approval or call that it is about goes on.
local function about(text)
  if not text:find('"approval":"', 1, true) and not text:find('"call":"', 1, true) then return end
  local post = cjson.decode(text)
  local after = type(post.after) == 'string' and post.after or nil
  local body = type(post.body) == 'table' and post.body or {}
  if type(body.call) == 'string' and call('HEXISTS', OPEN, body.call) == 1 then return after, true end
  if type(body.approval) ~= 'string' then return after, false end
  return after, MAY_CHANGE[call('HGET', APPROVALS, 'status ' .. body.approval)]
end

local function changes(id)
  for _, text in ipairs(call('HVALS', OUTBOX)) do
    if about(text) == id then return true end
  end
  return false
end

-- Has a place forgotten once PLACES_KEPT more of them were.
local function pass(id)
  call('LREM', PAID, 0, id)
  call('RPUSH', PAID, id)
  if call('LLEN', PAID) > PLACES_KEPT then call('HDEL', PLACES, call('LPOP', PAID)) end
end

-- Strikes posts off ({id, place} each), an empty place when it cannot be posted. The place of what
-- shows an approval or an open call stays while that goes on, and until its end is shown there.
local function pay(paid)
  for _, post in each(paid) do
    local id, place = post[1], post[2]
    local text = call('HGET', OUTBOX, id)
    if text then
      call('HDEL', OUTBOX, id)
      call('LREM', OWED, 1, id)
      local after, waits = about(text)
      if place ~= '' then
        call('HSET', PLACES, id, place)
        if after or not waits then pass(id) end
      end
      if after and not waits and call('HEXISTS', PLACES, after) == 1 and not changes(after) then
        pass(after)
      end
    end
  end
end
