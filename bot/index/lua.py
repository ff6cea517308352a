"""The scripts of the index: what has to be one step in the store."""

CLAIM = """#!lua flags=allow-oom
local told = redis.call('GET', KEYS[2])
if told then return cjson.decode(told) end
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local most, until_ = tonumber(ARGV[1]), ''
local due = redis.call('ZCOUNT', KEYS[1], '-inf', now)
local ahead = due > most and math.floor((most + time[2] % 2) / 2) or most
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ahead)
if due > most then
  local skipped = ahead + math.floor(time[2] / 2) % (due - most + 1)
  local rest = { KEYS[1], '-inf', now, 'LIMIT', skipped, most - ahead }
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', unpack(rest))) do
    found[#found + 1] = member
  end
end
for _, member in ipairs(found) do
  redis.call('ZADD', KEYS[1], string.format('%.3f', now + ARGV[2]), member)
  until_ = redis.call('ZSCORE', KEYS[1], member)
end
if #found > 0 and tonumber(ARGV[2]) > 0 then
  redis.call('SET', KEYS[2], cjson.encode({ until_, found }), 'PX', ARGV[2])
end
return { until_, found }
"""
"""CLAIM{due, took}(n, lease): what is due, moved `lease` ms into the future, and that moment.

Asked under the same name `took`, it answers the same once more for as long as that lasts.
The moment is exact to the microsecond, so that no two claims share one. When more is due than is
asked for, half of it comes from the front, so that what people wait for does not wait for all that
is behind it, and half from anywhere, so that nothing waits for what sorts before it.
"""

RING = """#!lua
redis.call('ZADD', KEYS[1], 'LT', ARGV[1], ARGV[2])
redis.call('LPUSH', KEYS[2], 1)
redis.call('LTRIM', KEYS[2], 0, ARGV[3] - 1)
return redis.call('EXPIRE', KEYS[2], ARGV[4])
"""
"""RING{ready, wake}(when, member, tokens, seconds): due, and whoever waits is woken.

What is due earlier already stays so."""

WAITS = """#!lua
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
local time = redis.call('TIME')
if score and tonumber(score) <= time[1] * 1000 + ARGV[3] then return 0 end
return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
"""
"""WAITS{due}(when, member, longest): due, unless that is known: `longest` ms from now at most."""

DONE = """#!lua flags=allow-oom
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
"""
"""DONE{due}(member, score): struck off, unless somebody rang since it was claimed."""

HOLD = """#!lua flags=allow-oom
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""
"""HOLD{due}(member, delay, lifetime): not before `delay` ms from now by the store's clock."""

LATER = """#!lua flags=allow-oom
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and score ~= ARGV[3] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
"""
"""LATER{due}(member, delay, score): due `delay` ms from now by the store's clock, unless somebody
rang since it was claimed. One that is gone was lost: nobody but its claimer strikes it off."""

NOTE = """#!lua flags=allow-oom
local time = redis.call('TIME')
return redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
"""
"""NOTE{dead}(member): noted with the moment it happened, by the store's clock."""

MARK = """#!lua flags=allow-oom
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since, emptied = unpack(redis.call('HMGET', KEYS[1], 'since', 'emptied'))
local lost = ARGV[2] == '1' or (ARGV[1] ~= '' and ARGV[1] ~= since)
if not since then
  since = (ARGV[1] ~= '' or redis.call('DBSIZE') == 0) and string.format('%d', now) or '0'
  redis.call('HSET', KEYS[1], 'since', since)
end
if emptied or not lost then return { since, emptied or '0', 0 } end
redis.call('HSET', KEYS[1], 'emptied', now)
return { since, string.format('%d', now), 1 }
"""
"""MARK{boot}(known, lost): since when the store remembers, when it was found emptied, and whether
this call found it. Whoever knows another `since` from before has seen it emptied; so has who says
`lost`. A store that is marked late remembers since 0: nobody knows."""

TELL = """#!lua flags=allow-oom
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local emptied, told, taken, by =
  unpack(redis.call('HMGET', KEYS[1], 'emptied', 'told', 'taken', 'by'))
if not emptied or told == emptied then return 0 end
local left = tonumber(taken or 0) - now
if 0 < left and left <= tonumber(ARGV[1]) and by ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'taken', now + tonumber(ARGV[1]), 'by', ARGV[2])
return 1
"""
"""TELL{boot}(ms, word): whether the caller is to tell people that the store was emptied, for so
long; asked once more with the same word, it is."""

TAKE = """#!lua
local word = redis.call('GET', KEYS[1])
if word and word ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
"""
"""TAKE{mark}(word, seconds): whether nobody has it, or who has it asks once more."""

SPEND = """#!lua
if not redis.call('SET', KEYS[2], 1, 'NX', 'EX', ARGV[3]) then return 0 end
redis.call('INCRBY', KEYS[1], ARGV[1])
return redis.call('EXPIREAT', KEYS[1], ARGV[2])
"""
"""SPEND{account, heard}(tokens, midnight, seconds): counted, once for so long."""
