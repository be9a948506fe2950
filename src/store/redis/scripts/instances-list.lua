#!lua flags=no-writes
-- KEYS: the instances. ARGV: now. Returns instance, state, instance, state and so on.
local now = now_of(ARGV[1])
local states, live = redis.call("HGETALL", KEYS[1]), {}
for index = 1, #states, 2 do
  local ends, state = string.match(states[index + 1], "^(%d+) (.*)$")
  if tonumber(ends) > now then
    live[#live + 1] = states[index]
    live[#live + 1] = state
  end
end
return live
