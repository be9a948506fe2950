#!lua flags=allow-oom
-- KEYS: user. Voids the tokens that were issued before. Returns the user's fields; 0 without such a user.
if redis.call("EXISTS", KEYS[1]) == 0 then return 0 end
redis.call("HINCRBY", KEYS[1], "sessions", 1)
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created", "charged", "disabled",
  "sessions")
