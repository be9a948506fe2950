#!lua flags=allow-oom
-- KEYS: the dead. ARGV: now, instance, channel, milliseconds for which it is remembered.
local now = now_of(ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - tonumber(ARGV[4]))
redis.call("ZADD", KEYS[1], now, ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[4])
-- A user without the right to publish has marked it all the same: the others read it when they renew.
redis.pcall("PUBLISH", ARGV[3], ARGV[2])
return 1
