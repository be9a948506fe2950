#!lua flags=no-writes
-- KEYS: the user's keys, their last uses, the user. ARGV: now. Returns now and three lists of field, value, field, value.
return { now_of(ARGV[1]), redis.call("HGETALL", KEYS[1]), redis.call("HGETALL", KEYS[2]), redis.call("HGETALL", KEYS[3]) }
