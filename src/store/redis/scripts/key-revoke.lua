#!lua flags=allow-oom
-- KEYS: user, the user's keys, their last uses. ARGV: now, key, user, channel. Returns whether it was a live key.
local key = redis.call("HGET", KEYS[2], ARGV[2])
if not key then return 0 end
local limits = cjson.decode(string.match(key, "{.*$")).limits
redis.call("HDEL", KEYS[2], ARGV[2])
redis.call("HDEL", KEYS[3], ARGV[2])
if limits and limits.budget then forget_spent() end
redis.call("HINCRBY", KEYS[1], "version", 1)
-- A user without the right to publish has revoked it all the same: the others look again by themselves.
redis.pcall("PUBLISH", ARGV[4], ARGV[3])
return limits and limits.expiresAt and limits.expiresAt <= now_of(ARGV[1]) and 0 or 1
