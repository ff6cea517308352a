#!lua flags=allow-oom
-- delete() -> {whether it was there, shared}
local shared = call('LRANGE', SHARED, 0, -1)
call('DEL', unpack(KEYS))
return { exists and 1 or 0, shared }
