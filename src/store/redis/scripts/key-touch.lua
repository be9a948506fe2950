#!lua
-- KEYS: the user's keys, their last uses. ARGV: key, Unix milliseconds, key, Unix milliseconds, and so on.
for index = 1, #ARGV, 2 do
  local key, at = ARGV[index], ARGV[index + 1]
  if redis.call("HEXISTS", KEYS[1], key) == 1 then
    local before = redis.call("HGET", KEYS[2], key)
    if not before or tonumber(before) < tonumber(at) then redis.call("HSET", KEYS[2], key, at) end
  end
end
return 1
