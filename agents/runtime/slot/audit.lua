-- record(entries): appends entries ({canonical JSON, hash}) to the audit chain. Kept as hash (64 hex)
-- .. text. The given hashes count when they were made on a.head, the last one there is.
local function record(entries)
  local last = entries and entries[1] and call('LINDEX', AUDIT, -1)
  local hash = last and last:sub(1, 64) or ''
  local known = hash == a.head
  for _, made in each(entries) do
    local entry = made[1]
    hash = known and made[2] or sha256(hash .. entry)
    call('RPUSH', AUDIT, hash .. entry)
  end
end
