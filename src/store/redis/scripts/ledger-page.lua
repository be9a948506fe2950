#!lua flags=no-writes
-- Entries of a user that were recorded before a time, the newest last.
-- KEYS: ledger. ARGV: Unix milliseconds, how many of the newest among them to leave out, how many to return.
local before, low, high = tonumber(ARGV[1]), 0, redis.call("LLEN", KEYS[1])
while low < high do
  local middle = math.floor((low + high) / 2)
  local time = string.match(redis.call("LINDEX", KEYS[1], middle), "^%d+")
  if tonumber(time) < before then low = middle + 1 else high = middle end
end
local last = low - 1 - ARGV[2]
if last < 0 then return {} end
return redis.call("LRANGE", KEYS[1], math.max(0, last - ARGV[3] + 1), last)
