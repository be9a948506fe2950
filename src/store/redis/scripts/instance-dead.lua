#!lua flags=allow-oom
-- KEYS: the dead. ARGV: now, instance, channel, milliseconds to remember it.
local now = now_of(ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - tonumber(ARGV[4]))
redis.call("ZADD", KEYS[1], now, ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[4])
-- Who may not publish has buried it all the same: the others look for it when they renew.
redis.pcall("PUBLISH", ARGV[3], ARGV[2])
return 1
