-- record(entries): appends entries (canonical JSON) to the audit chain. Kept as hash (64 hex) .. text.
local function record(entries)
  local last = call('LINDEX', AUDIT, -1)
  local hash = last and last:sub(1, 64) or ''
  for _, entry in each(entries) do
    hash = sha256(hash .. entry)
    call('RPUSH', AUDIT, hash .. entry)
  end
end
