#!lua flags=no-writes
-- KEYS: user, the user's keys. ARGV: now, key. Returns tier, version, the key as stored and now; false without that key.
local key = redis.call("HGET", KEYS[2], ARGV[2])
local user = redis.call("HMGET", KEYS[1], "tier", "version", "disabled")
if not key or not user[1] or user[3] then return false end
return { user[1], user[2], key, now_of(ARGV[1]) }
