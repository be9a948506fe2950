#!lua
-- Changes a key, or rolls it: a new one with it, in one step.
-- KEYS: user, the user's keys, their last uses. ARGV: now, key, as it was read, as it is to be or '' for gone, user,
-- channel, then, of a roll, the new key's id, the new key and the most keys of a user.
-- Returns the new key as stored, the changed one without a roll, '' for one that is gone; 'raced' when it was changed
-- meanwhile, 'full', or false when it is no live key.
local now = now_of(ARGV[1])
local kept = redis.call("HGET", KEYS[2], ARGV[2])
if not kept then return false end
local limits = cjson.decode(string.match(kept, "{.*$")).limits
if limits and limits.expiresAt and limits.expiresAt <= now then return false end
if kept ~= ARGV[3] then return "raced" end

local answer = ARGV[4]
local is_gone = answer == ""
if ARGV[7] then
  if not has_room(tonumber(ARGV[9]), is_gone and 1 or 0, now) then return "full" end
  answer = string.format("%.0f", now) .. " " .. ARGV[8]
  redis.call("HSET", KEYS[2], ARGV[7], answer)
end
if is_gone then
  redis.call("HDEL", KEYS[2], ARGV[2])
  redis.call("HDEL", KEYS[3], ARGV[2])
else
  redis.call("HSET", KEYS[2], ARGV[2], ARGV[4])
end
redis.call("HINCRBY", KEYS[1], "version", 1)
-- A user without the right to publish has changed it all the same: the others look again by themselves.
redis.pcall("PUBLISH", ARGV[6], ARGV[5])
return answer
