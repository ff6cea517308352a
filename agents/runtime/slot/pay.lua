-- Behind slot.lua in the scripts that strike posts off. Posts are as told in port.Post.
local MAY_CHANGE = { pending = true, approved = true, started = true, unknown = true }

-- Which post this one changes, and the approval it is about.
local function about(text)
  if not text:find('"approval":"', 1, true) then return end
  local post = cjson.decode(text)
  local after = type(post.after) == 'string' and post.after or nil
  local named = type(post.body) == 'table' and post.body.approval
  return after, type(named) == 'string' and named or nil
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
-- shows an approval stays while that may change, and until its last change is shown there.
local function pay(paid)
  for _, post in each(paid) do
    local id, place = post[1], post[2]
    local text = call('HGET', OUTBOX, id)
    if text then
      call('HDEL', OUTBOX, id)
      call('LREM', OWED, 1, id)
      local after, named = about(text)
      local waits = named and MAY_CHANGE[call('HGET', APPROVALS, 'status ' .. named)]
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
