#!lua
-- KEYS: user, the user's keys, their last uses. ARGV: now, id, key, maximum.
-- Returns the key as stored, the same when it is repeated; 'full', or 'unknown' without such a user.
local now, maximum = now_of(ARGV[1]), tonumber(ARGV[4])
if redis.call("HEXISTS", KEYS[1], "email") == 0 then return "unknown" end
local kept = redis.call("HGET", KEYS[2], ARGV[2])
if kept then return kept end

if not has_room(maximum, 0, now) then return "full" end
local key = string.format("%.0f", now) .. " " .. ARGV[3]
redis.call("HSET", KEYS[2], ARGV[2], key)
local limits = cjson.decode(ARGV[3]).limits
if limits and limits.budget then forget_spent() end
return key
