#!lua flags=allow-oom
-- ARGV: now, digest, id. Changes nothing for a key that was ended, or that another request has.
local entry = entry_of(ARGV[2], now_of(ARGV[1]))
if entry and entry.running and entry.id == ARGV[3] then drop_entry(ARGV[2]) end
return 1
