#!lua flags=allow-oom
-- release(fence) -> 1 | 0
if not exists or number('fence') ~= a.fence then return 0 end
call('HSET', META, 'owner', '', 'lease', 0)
return 1
