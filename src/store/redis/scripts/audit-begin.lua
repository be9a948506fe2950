#!lua
-- KEYS: as of audit-chain. ARGV: now, milliseconds for which entries are kept, id, entry. Notes an entry that has begun.
local now, kept = now_of(ARGV[1]), tonumber(ARGV[2])
if redis.call("ZADD", KEYS[1], "NX", BEGUN, ARGV[3]) == 1 then redis.call("HSET", KEYS[2], ARGV[3], ARGV[4]) end
keep_for(now, kept)
return 1
