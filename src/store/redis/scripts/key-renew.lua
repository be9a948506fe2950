#!lua flags=allow-oom
-- ARGV: as in key-claim. Returns 0 when another request has the key, or it was ended.
local now = now_of(ARGV[1])
local entry = entry_of(ARGV[2], now)
if entry and not (entry.running and entry.id == ARGV[4]) then return 0 end
put_entry(ARGV[2], "r", now + tonumber(ARGV[6]), ARGV[4], ARGV[3], ARGV[5], "", now, tonumber(ARGV[7]))
return 1
