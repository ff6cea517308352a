-- merge: sets app: or user: state once per session and stamp, each name to what was changed last.
-- KEYS: the state (hash), its marks (zset: session -> stamp, '=' .. name -> stamp).
-- ARGV: session, stamp (µs), ms a mark is kept, name, text, name, text, … -> 1 | 0
local session, stamp, kept = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function mark(member) return tonumber(redis.call('ZSCORE', KEYS[2], member) or 0) end
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

if mark(session) >= stamp then return 0 end
for i = 4, #ARGV, 2 do
  local name = '=' .. ARGV[i]
  local newest = mark(name)
  -- A mark from the future is older than it looks: the clock was set back since.
  if newest <= stamp or newest > now then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    redis.call('ZADD', KEYS[2], stamp, name)
  end
end
redis.call('ZADD', KEYS[2], stamp, session)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', stamp - kept * 1000)
redis.call('PEXPIRE', KEYS[2], kept)
return 1
