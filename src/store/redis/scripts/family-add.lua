#!lua
-- KEYS: family. ARGV: now, user, digest of the live token, Unix milliseconds of its expiry, the user's number of sessions.
-- Returns 0 when there is one that has another token.
local live = redis.call("HGET", KEYS[1], "live")
if live then return live == ARGV[3] and 1 or 0 end
redis.call("HSET", KEYS[1], "user", ARGV[2], "live", ARGV[3], "expires", ARGV[4], "sessions", ARGV[5])
redis.call("PEXPIRE", KEYS[1], lifetime(ARGV[4], now_of(ARGV[1])))
return 1
