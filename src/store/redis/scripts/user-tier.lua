#!lua
-- KEYS: user. ARGV: tier, user, channel. Returns the user's fields; 0 without such a user.
if redis.call("HEXISTS", KEYS[1], "email") == 0 then return 0 end
redis.call("HSET", KEYS[1], "tier", ARGV[1])
redis.call("HINCRBY", KEYS[1], "version", 1)
-- A user without the right to publish has changed it all the same: the others look again by themselves.
redis.pcall("PUBLISH", ARGV[3], ARGV[2])
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created", "charged", "disabled",
  "sessions")
