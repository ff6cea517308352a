-- unstart(fence, step, request, audit) -> 1 | 0
-- Undoes start_call under the same fence, for a body that was not entered.
if number('fence') ~= a.fence or call('HGET', JOURNAL, a.step) ~= '>' .. a.fence then return 0 end
call('HDEL', JOURNAL, a.step)
local stored = a.request and approval(a.request)
if stored and stored.status == 'started' then move(a.request, 'approved', stored.rev + 1) end
record(a.audit)
return 1
