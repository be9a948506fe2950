#!lua
-- KEYS: the instances, instance to "<until> <state>". ARGV: now, instance, state, milliseconds.
local now = now_of(ARGV[1])
local last = now + tonumber(ARGV[4])
local states = redis.call("HGETALL", KEYS[1])
redis.call("HSET", KEYS[1], ARGV[2], string.format("%.0f", last) .. " " .. ARGV[3])
for index = 1, #states, 2 do
  local ends = tonumber(string.match(states[index + 1], "^%d+"))
  if states[index] ~= ARGV[2] then
    if ends <= now then redis.call("HDEL", KEYS[1], states[index]) else last = math.max(last, ends) end
  end
end
redis.call("PEXPIRE", KEYS[1], lifetime(last, now))
return 1
