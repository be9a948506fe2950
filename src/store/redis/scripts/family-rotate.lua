#!lua
-- Follows a token of the family by the next. One that was followed before, beyond the grace, ends the family.
-- A token that is not live and leads here was followed before; the one that the live one follows, at `at`.
-- KEYS: family. ARGV: now, digest, the successor's, grace in milliseconds. Returns the family's user
-- and number of sessions, or false.
local family = redis.call("HMGET", KEYS[1], "user", "live", "expires", "at", "sessions")
local user, live, expires, at = family[1], family[2], family[3], family[4]
local now = now_of(ARGV[1])
if not user or tonumber(expires) <= now then return false end
if live == ARGV[2] then
  redis.call("HSET", KEYS[1], "live", ARGV[3], "at", now)
elseif live ~= ARGV[3] or not at or now - tonumber(at) > tonumber(ARGV[4]) then
  redis.call("DEL", KEYS[1])
  return false
end
return { user, family[5] or "0" }
