#!lua flags=no-writes
-- KEYS: the user's keys, their last uses. Returns two lists of key, value, key, value.
return { redis.call("HGETALL", KEYS[1]), redis.call("HGETALL", KEYS[2]) }
