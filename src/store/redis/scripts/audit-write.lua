#!lua
-- KEYS: the ids of the audit log in their order, its entries by id. ARGV: now, id, entry, milliseconds for which entries
-- are kept, the most that are kept. Puts the entry in the place of the one with its id, and takes some of the oldest away:
-- what is too old, by the time that ids begin with, and what is too many.
redis.call("ZADD", KEYS[1], 0, ARGV[2])
redis.call("HSET", KEYS[2], ARGV[2], ARGV[3])
local now = now_of(ARGV[1])
local oldest_kept = now - tonumber(ARGV[4])
local too_many = redis.call("ZCARD", KEYS[1]) - tonumber(ARGV[5])
for index, id in ipairs(redis.call("ZRANGE", KEYS[1], 0, 9)) do
  local at = tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16)
  if id == ARGV[2] or (at >= oldest_kept and index > too_many) then break end
  redis.call("ZREM", KEYS[1], id)
  redis.call("HDEL", KEYS[2], id)
end
for _, key in ipairs(KEYS) do redis.call("PEXPIRE", key, lifetime(now + tonumber(ARGV[4]), now)) end
return 1
