#!lua flags=allow-oom
-- Deletes a key if it leads to a user. KEYS: key. ARGV: user. Returns whether it did.
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
