-- KEYS: user, the user's keys, their last uses. Keys that have expired make room for others.
local function drop_expired(now)
  local all = redis.call("HGETALL", KEYS[2])
  for index = 1, #all, 2 do
    local limits = cjson.decode(string.match(all[index + 1], "{.*$")).limits
    if limits and limits.expiresAt and limits.expiresAt <= now then
      redis.call("HDEL", KEYS[2], all[index])
      redis.call("HDEL", KEYS[3], all[index])
    end
  end
end

-- Whether the user may have one key more. @param going keys among them that are about to go
local function has_room(maximum, going, now)
  if redis.call("HLEN", KEYS[2]) - going >= maximum then drop_expired(now) end
  return redis.call("HLEN", KEYS[2]) - going < maximum
end
