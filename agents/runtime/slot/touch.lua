-- touch: puts a session into its app's list, by the time of its last change.
-- KEYS: the list (zset: session -> ms). ARGV: session, ms a session is listed -> 1
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
