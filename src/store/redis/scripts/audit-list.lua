#!lua flags=no-writes
-- KEYS: as of audit-chain. ARGV: only what is older than this id, empty for all; how many. Returns entries, the newest first.
local start = 0
if ARGV[1] ~= "" then
  local rank = redis.call("ZREVRANK", KEYS[1], ARGV[1])
  if not rank then return {} end
  start = rank + 1
end
local entries = {}
for _, id in ipairs(redis.call("ZREVRANGE", KEYS[1], start, start + tonumber(ARGV[2]) - 1)) do
  entries[#entries + 1] = redis.call("HGET", KEYS[2], id) or nil
end
return entries
