#!lua flags=no-writes
-- KEYS: the user's windows. ARGV: now. Returns the six counts.
local counts = counts_at(counts_of(redis.call("GET", KEYS[1])), now_of(ARGV[1]))
return { counts.day, counts.d, counts.hour, counts.h, counts.minute, counts.m }
