-- Values of a plugin. KEYS: their hash, digest to "<expires> <value>", with the bytes of all under "bytes"; their expiries,
-- a sorted set of digests.
local function value_of(digest, now)
  local stored = redis.call("HGET", KEYS[1], digest)
  if not stored then return nil end
  local blank = string.find(stored, " ", 1, true)
  local expires = tonumber(string.sub(stored, 1, blank - 1))
  if expires <= now then return nil end
  return string.sub(stored, blank + 1), expires
end

local function drop_value(digest, overhead)
  local size = redis.call("HSTRLEN", KEYS[1], digest)
  if size == 0 then return end
  redis.call("HDEL", KEYS[1], digest)
  redis.call("ZREM", KEYS[2], digest)
  redis.call("HINCRBY", KEYS[1], "bytes", -(size + overhead))
end

-- Takes away two that have expired, which is more than it adds, and whatever expires soonest while there is no room.
local function put_value(digest, value, expires, now, most, overhead)
  drop_value(digest, overhead)
  local stored = string.format("%.0f ", expires) .. value
  local bytes = #stored + overhead
  local removed = 0
  while true do
    local soonest = redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")
    if #soonest == 0 then break end
    local expired = removed < 2 and tonumber(soonest[2]) <= now
    local kept = tonumber(redis.call("HGET", KEYS[1], "bytes") or 0)
    if not expired and kept + bytes <= most then break end
    drop_value(soonest[1], overhead)
    removed = removed + 1
  end
  redis.call("HSET", KEYS[1], digest, stored)
  redis.call("ZADD", KEYS[2], string.format("%.0f", expires), digest)
  redis.call("HINCRBY", KEYS[1], "bytes", bytes)
  local last = redis.call("ZRANGE", KEYS[2], -1, -1, "WITHSCORES")
  for _, key in ipairs(KEYS) do redis.call("PEXPIRE", key, lifetime(last[2], now)) end
end
