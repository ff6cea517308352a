-- ingest(id, body, only_existing) -> 'queued' | 'duplicate' | 'missing'
if not exists then
  if a.only_existing then return 'missing' end
  call('HSET', META, 'created', now)
end
if not put(a.id, a.body) then return 'duplicate' end
call('HSET', META, 'updated', now)
live()
return 'queued'
