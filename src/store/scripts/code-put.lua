#!lua
-- KEYS: code. ARGV: now, digest, Unix milliseconds of its expiry, tries.
redis.call("DEL", KEYS[1])
redis.call("HSET", KEYS[1], "digest", ARGV[2], "expires", ARGV[3], "tries", ARGV[4])
redis.call("PEXPIRE", KEYS[1], lifetime(ARGV[3], now_of(ARGV[1])))
return 1
