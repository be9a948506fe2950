#!lua
-- Returns how many of a user's entries have been swept, and those that are next.
-- KEYS: user, ledger, unswept. ARGV: how many at most, retention.
local swept = redis.call("HGET", KEYS[1], "swept")
if not swept then
  if redis.call("EXISTS", KEYS[1]) == 0 then return { "0", {} } end
  swept = "0"
  redis.call("HSET", KEYS[1], "swept", swept)
  -- The first time: what has been recorded before there was a sweep is unswept as well.
  if redis.call("COPY", KEYS[2], KEYS[3], "REPLACE") == 1 then redis.call("PEXPIRE", KEYS[3], ARGV[2]) end
end
return { swept, redis.call("LRANGE", KEYS[3], 0, ARGV[1] - 1) }
