-- start_call(fence, cid, step, request, digest, recorded, audit)
--   -> {'go'} | {'again'} | {'closed'} | {'done', text} | {'refused', why} | {'fence'}
if not exists or number('fence') ~= a.fence then return { 'fence' } end
local open = call('HGET', OPEN, a.cid)
if not open then return { 'closed' } end

-- The journal has '>' .. fence for a body that was started, '=' .. text for its result.
for _, step in ipairs({ a.step, a.cid }) do
  local noted = call('HGET', JOURNAL, step)
  if noted and noted:sub(1, 1) == '=' then return { 'done', noted:sub(2) } end
end
local asked = cjson.decode(open).request
if asked and asked ~= a.request then return { 'refused', 'request' } end
local stored = a.request and approval(a.request)
local late = stored and stored.run_by and now >= stored.run_by
local started = call('HGET', JOURNAL, a.step)
if started then
  if tonumber(started:sub(2)) == a.fence then return { 'go' } end
  if late then return { 'refused', 'late' } end
  return { 'again' }
end

if stored then
  if stored.status ~= 'approved' then return { 'refused', stored.status } end
  if stored.digest ~= a.digest then return { 'refused', 'digest' } end
  if late then return { 'refused', 'late' } end
  move(a.request, 'started', stored.rev + 1)
elseif a.recorded and a.request then
  return { 'refused', 'missing' }
end
call('HSET', JOURNAL, a.step, '>' .. a.fence)
record(a.audit)
live()
return { 'go' }
