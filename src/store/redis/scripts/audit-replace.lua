#!lua
-- KEYS: the audit log's entries by id. ARGV: id, the entry as it is, the entry as it is to be. Returns whether it was replaced.
if redis.call("HGET", KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[3])
return 1
