#!lua
-- KEYS: user. ARGV: tier. Returns the user's fields; 0 without such a user.
if redis.call("EXISTS", KEYS[1]) == 0 then return 0 end
redis.call("HSET", KEYS[1], "tier", ARGV[1])
redis.call("HINCRBY", KEYS[1], "version", 1)
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created")
