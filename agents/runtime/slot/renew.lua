#!lua flags=allow-oom
-- renew(fence, lease) -> 1 | 0
if not exists or number('fence') ~= a.fence or (meta('owner') or '') == '' then return 0 end
call('HSET', META, 'lease', now + a.lease)
return 1
