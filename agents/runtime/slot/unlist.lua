#!lua flags=allow-oom
-- unlist: takes a session that is gone off its app's list, unless it was touched meanwhile.
-- KEYS: the list. ARGV: session, the score it was seen with -> 1 | 0
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
