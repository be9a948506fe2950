#!lua
-- KEYS: token. ARGV: now, its family, Unix milliseconds of the family's expiry.
redis.call("SET", KEYS[1], ARGV[2], "PX", lifetime(ARGV[3], now_of(ARGV[1])))
return 1
