-- decide(record, source, cid, late_ok, entry, posts, audit, head)
--   -> {'missing' | 'ok', now} | {'moved' | 'late', now, the stored record's fields}
local new = a.record
local stored = exists and approval(new.id)
if not stored then return { 'missing', now } end
if stored.rev == new.rev and stored.status == new.status and stored.body == new.body then
  return { 'ok', now }
end
if stored.rev ~= new.rev - 1 or stored.status ~= a.source then
  return { 'moved', now, stored.raw }
end
local open = a.cid and call('HGET', OPEN, a.cid)
local asked = open and cjson.decode(open)
if a.cid and not (asked and asked.kind == 'approval' and asked.request == new.id) then
  return { 'moved', now, stored.raw }
end
if not a.late_ok and stored.deadline and now >= stored.deadline then
  return { 'late', now, stored.raw }
end
write(new)
call('HSET', META, 'updated', now)
if a.entry then put(a.entry[1], a.entry[2]) end
owe(a.posts)
record(a.audit)
live()
return { 'ok', now }
