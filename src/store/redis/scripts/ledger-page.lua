#!lua flags=no-writes
-- Entries of a user, the newest last: those that were recorded before a time, and the oldest of just that time.
-- KEYS: ledger. ARGV: Unix milliseconds, how many of that time, how many to return.
-- Returns how many lie below the first one that were recorded at its time, and the entries.
local function first_at(time)
  local low, high = 0, redis.call("LLEN", KEYS[1])
  while low < high do
    local middle = math.floor((low + high) / 2)
    local recorded = string.match(redis.call("LINDEX", KEYS[1], middle), "^%d+")
    if tonumber(recorded) < time then low = middle + 1 else high = middle end
  end
  return low
end

local last = math.min(first_at(tonumber(ARGV[1])) + ARGV[2], redis.call("LLEN", KEYS[1])) - 1
if last < 0 then return { 0, {} } end
local first = math.max(0, last - ARGV[3] + 1)
local entries = redis.call("LRANGE", KEYS[1], first, last)
return { first - first_at(tonumber(string.match(entries[1], "^%d+"))), entries }
