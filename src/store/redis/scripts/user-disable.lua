#!lua flags=allow-oom
-- KEYS: user. ARGV: now, 1 to disable or 0, user, channels of changes and of stops. Returns the user's fields; 0 without
-- such a user.
if redis.call("HEXISTS", KEYS[1], "email") == 0 then return 0 end
redis.call("HINCRBY", KEYS[1], "version", 1)
-- A user without the right to publish has changed it all the same: the others look again by themselves.
redis.pcall("PUBLISH", ARGV[4], ARGV[3])
if ARGV[2] == "1" then
  redis.call("HSETNX", KEYS[1], "disabled", string.format("%.0f", now_of(ARGV[1])))
  redis.pcall("PUBLISH", ARGV[5], ARGV[3] .. " " .. redis.call("HINCRBY", KEYS[1], "stop", 1))
else
  redis.call("HDEL", KEYS[1], "disabled")
end
return redis.call("HMGET", KEYS[1], "email", "tier", "balance", "available", "granted", "created", "charged", "disabled",
  "sessions")
