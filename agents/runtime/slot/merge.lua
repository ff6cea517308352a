-- merge: sets app: or user: state once per session and stamp.
-- KEYS: the state (hash), its marks (zset: session -> stamp).
-- ARGV: session, stamp, ms a mark is kept, name, text, name, text, … -> 1 | 0
local session, stamp, kept = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local mark = tonumber(redis.call('ZSCORE', KEYS[2], session) or 0)
if mark >= stamp then return 0 end
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('ZADD', KEYS[2], stamp, session)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. stamp - kept)
redis.call('PEXPIRE', KEYS[2], kept)
return 1
