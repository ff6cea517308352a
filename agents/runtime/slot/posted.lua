#!lua flags=allow-oom
-- posted(paid) -> 1; paid: {id, place}, an empty place when it cannot be posted
for _, paid in each(a.paid) do
  local id, place = paid[1], paid[2]
  if call('HDEL', OUTBOX, id) == 1 then
    call('LREM', OWED, 1, id)
    if place ~= '' then
      call('HSET', PLACES, id, place)
      call('RPUSH', PAID, id)
      if call('LLEN', PAID) > PLACES_KEPT then call('HDEL', PLACES, call('LPOP', PAID)) end
    end
  end
end
live()
return 1
