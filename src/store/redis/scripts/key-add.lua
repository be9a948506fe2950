#!lua
-- KEYS: user, the user's keys. ARGV: now, id, key, maximum.
-- Returns the key as stored, the same when it is repeated; 'full', or 'unknown' without such a user.
if redis.call("EXISTS", KEYS[1]) == 0 then return "unknown" end
local kept = redis.call("HGET", KEYS[2], ARGV[2])
if kept then return kept end
if redis.call("HLEN", KEYS[2]) >= tonumber(ARGV[4]) then return "full" end
local key = string.format("%.0f", now_of(ARGV[1])) .. " " .. ARGV[3]
redis.call("HSET", KEYS[2], ARGV[2], key)
return key
