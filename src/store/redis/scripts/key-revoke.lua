#!lua flags=allow-oom
-- KEYS: user, the user's keys, their last uses. ARGV: key, user, channel. Returns whether it was a live key.
if redis.call("HDEL", KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call("HDEL", KEYS[3], ARGV[1])
redis.call("HINCRBY", KEYS[1], "version", 1)
-- A user without the right to publish has revoked it all the same: the others look again by themselves.
redis.pcall("PUBLISH", ARGV[3], ARGV[2])
return 1
