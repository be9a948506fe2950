#!lua flags=allow-oom
-- KEYS: user, the user's keys, their last uses. ARGV: key. Returns whether it was a live key.
if redis.call("HDEL", KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call("HDEL", KEYS[3], ARGV[1])
redis.call("HINCRBY", KEYS[1], "version", 1)
return 1
