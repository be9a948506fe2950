#!lua
-- ARGV: now, digest, fingerprint, id, request id, milliseconds to live, expired keys to take away, outcome, the most bytes
-- of answers, the answer or ''. Returns 0 when another request has the key, else a list: digests of keys whose answers are
-- beyond the bound, and have to be deleted.
local now, ttl = now_of(ARGV[1]), tonumber(ARGV[6])
local digest, id, answer = ARGV[2], ARGV[4], ARGV[10]
local entry = entry_of(digest, now)
if entry and entry.id ~= id then return 0 end
if entry and not entry.running then return {} end
-- First what may fail: nothing is rolled back.
if answer ~= "" then redis.call("SET", ANSWER, answer, "PX", ttl) end
put_entry(digest, "k", now + ttl, id, ARGV[3], ARGV[5], ARGV[8], now, tonumber(ARGV[7]))
if answer == "" then return {} end
local last = redis.call("ZRANGE", ANSWERED, -1, -1, "WITHSCORES")
local total = tonumber(last[2] or 0) + #answer
local beyond = redis.call("ZRANGEBYSCORE", ANSWERED, "-inf", string.format("%.0f", total - tonumber(ARGV[9])))
for _, old in ipairs(beyond) do redis.call("ZREM", ANSWERED, old) end
redis.call("ZADD", ANSWERED, string.format("%.0f", total), digest)
redis.call("PEXPIRE", ANSWERED, lifetime(now + ttl, now))
return beyond
