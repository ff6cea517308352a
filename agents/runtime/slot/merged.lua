#!lua flags=allow-oom
-- merged(stamp) -> 1: app: and user: changes up to that stamp are in their own slots
while true do
  local oldest = call('LINDEX', SHARED, 0)
  if not oldest or tonumber(oldest:match('^%d+')) > a.stamp then return 1 end
  call('LPOP', SHARED)
end
