#!lua flags=allow-oom
-- release(fence, paid, put_off) -> 1 | 0; what was paid is struck off in any case
if a.paid then
  pay(a.paid)
  live()
end
if not exists or number('fence') ~= a.fence then return 0 end
if a.put_off and meta('owner') ~= '' and number('attempt') > 0 then
  call('HINCRBY', META, 'attempt', -1)
end
call('HSET', META, 'owner', '', 'lease', 0)
return 1
