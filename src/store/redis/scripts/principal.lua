#!lua flags=no-writes
-- KEYS: user, the user's keys. ARGV: key. Returns tier, version and the key as stored; false without that key.
local key = redis.call("HGET", KEYS[2], ARGV[1])
local user = redis.call("HMGET", KEYS[1], "tier", "version")
if not key or not user[1] then return false end
return { user[1], user[2], key }
