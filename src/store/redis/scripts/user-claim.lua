#!lua
-- Makes an address a user's, unless it is another's. KEYS: address. ARGV: user, the holder found to be nobody or ''.
-- Returns whose it is now.
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[2] then return holder end
redis.call("SET", KEYS[1], ARGV[1])
return ARGV[1]
