#!lua flags=allow-oom
-- KEYS: the dead. ARGV: now, instance, channel, milliseconds to remember it.
local now = now_of(ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - tonumber(ARGV[4]))
redis.call("ZADD", KEYS[1], now, ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[4])
redis.call("PUBLISH", ARGV[3], ARGV[2])
return 1
