-- apply(id, create, state, shared) -> {1 | 0, shared}; id names this very change
if a.create and exists and meta('made') ~= a.id then return { 0, {} } end
if not a.create and not exists then return { 0, {} } end
if not exists then call('HSET', META, 'created', now, 'made', a.id) end
call('HSET', META, 'updated', now)
for i = 1, #(a.state or {}), 2 do call('HSET', STATE, a.state[i], a.state[i + 1]) end
share(a.shared)
live()
return { 1, call('LRANGE', SHARED, 0, -1) }
