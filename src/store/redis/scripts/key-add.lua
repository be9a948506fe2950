#!lua
-- KEYS: user, the user's keys, their last uses. ARGV: now, id, key, maximum.
-- Returns the key as stored, the same when it is repeated; 'full', or 'unknown' without such a user.
local now, maximum = now_of(ARGV[1]), tonumber(ARGV[4])
if redis.call("EXISTS", KEYS[1]) == 0 then return "unknown" end
local kept = redis.call("HGET", KEYS[2], ARGV[2])
if kept then return kept end

-- Those that have expired make room.
local function drop_expired()
  local all = redis.call("HGETALL", KEYS[2])
  for index = 1, #all, 2 do
    local limits = cjson.decode(string.match(all[index + 1], "{.*$")).limits
    if limits and limits.expiresAt and limits.expiresAt <= now then
      redis.call("HDEL", KEYS[2], all[index])
      redis.call("HDEL", KEYS[3], all[index])
    end
  end
end

if redis.call("HLEN", KEYS[2]) >= maximum then drop_expired() end
if redis.call("HLEN", KEYS[2]) >= maximum then return "full" end
local key = string.format("%.0f", now) .. " " .. ARGV[3]
redis.call("HSET", KEYS[2], ARGV[2], key)
local limits = cjson.decode(ARGV[3]).limits
if limits and limits.budget then forget_spent() end
return key
