#!lua flags=no-writes
-- KEYS: the user's keys, their last uses. ARGV: now. Returns now and two lists of key, value, key, value.
return { now_of(ARGV[1]), redis.call("HGETALL", KEYS[1]), redis.call("HGETALL", KEYS[2]) }
