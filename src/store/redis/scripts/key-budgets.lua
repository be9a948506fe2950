-- KEYS: user, the user's keys. Forgets what keys have spent that are no more; what their requests hold they release.
local function forget_spent()
  for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
    local key = string.match(field, "^spent:(.*):%d+$")
    if key and redis.call("HEXISTS", KEYS[2], key) == 0 then redis.call("HDEL", KEYS[1], field) end
  end
end
