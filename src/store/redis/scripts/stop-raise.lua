#!lua flags=allow-oom
-- Raises a user's stop token and publishes it to every process.
-- KEYS: user, its streams by the stop token at admission, its leases. ARGV: now, user, channel.
-- Returns the token and how many streams it is the first to stop; 0 and 0 without such a user.
local now, before = now_of(ARGV[1]), redis.call("HGET", KEYS[1], "stop")
if not before then return { 0, 0 } end
-- Tokens rise by 1: streams under still lower ones have been stopped by an earlier stop.
local stopped = 0
for _, id in ipairs(redis.call("ZRANGEBYSCORE", KEYS[2], before, before)) do
  local ends = redis.call("ZSCORE", KEYS[3], id)
  if ends and tonumber(ends) > now then stopped = stopped + 1 end
end
local token = redis.call("HINCRBY", KEYS[1], "stop", 1)
-- A user without the right to publish has raised it all the same: the others poll.
redis.pcall("PUBLISH", ARGV[3], ARGV[2] .. " " .. token)
return { token, stopped }
