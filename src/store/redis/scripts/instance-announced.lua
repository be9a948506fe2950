#!lua flags=no-writes
-- KEYS: the fleet. ARGV: now. Returns instance, state, instance, state and so on.
local now = now_of(ARGV[1])
local said, live = redis.call("HGETALL", KEYS[1]), {}
for index = 1, #said, 2 do
  local ends, state = string.match(said[index + 1], "^(%d+) (.*)$")
  if tonumber(ends) > now then
    live[#live + 1] = said[index]
    live[#live + 1] = state
  end
end
return live
