#!lua
-- KEYS: the counts of a window, by name. ARGV: now, Unix milliseconds of the window's end, the most names that are kept,
-- then name, uses, name, uses and so on. Returns each count afterwards, false for a name that is not kept.
local kept, most = redis.call("HLEN", KEYS[1]), tonumber(ARGV[3])
local counts = {}
for index = 4, #ARGV, 2 do
  local count = false
  if kept < most or redis.call("HEXISTS", KEYS[1], ARGV[index]) == 1 then
    count = redis.call("HINCRBY", KEYS[1], ARGV[index], ARGV[index + 1])
    if count == tonumber(ARGV[index + 1]) then kept = kept + 1 end
  end
  counts[#counts + 1] = count
end
redis.call("PEXPIRE", KEYS[1], lifetime(ARGV[2], now_of(ARGV[1])))
return counts
