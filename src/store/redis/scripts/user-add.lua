#!lua
-- Writes a user aside: user-confirm makes it one, or it goes by itself.
-- KEYS: user, new user. ARGV: now, email, tier, credits, milliseconds to go.
-- Returns the time of creation; false when there is a user of this id.
if redis.call("EXISTS", KEYS[1]) == 1 then return false end
local now = now_of(ARGV[1])
redis.call("DEL", KEYS[2])
redis.call("HSET", KEYS[2], "email", ARGV[2], "tier", ARGV[3], "balance", ARGV[4], "available", ARGV[4],
  "granted", ARGV[4], "charged", 0, "version", 1, "stop", 0, "created", now)
redis.call("PEXPIRE", KEYS[2], ARGV[5])
return now
