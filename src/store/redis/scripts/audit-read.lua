#!lua
-- KEYS: as of audit-chain. ARGV: now, milliseconds for which entries are kept, only places behind this one, how many.
-- Returns the chain's ends: place and digest of the newest entry and of the newest one that is no longer kept; how many
-- have begun, and how many have no digests; then places and entries.
expire_chain(now_of(ARGV[1]), tonumber(ARGV[2]))
local ends = redis.call("HMGET", KEYS[3], "seq", "head", "anchor_seq", "anchor")
local reply = {
  tonumber(ends[1] or 0), ends[2] or "", tonumber(ends[3] or 0), ends[4] or "",
  redis.call("ZCOUNT", KEYS[1], BEGUN, BEGUN), redis.call("ZCOUNT", KEYS[1], 0, 0),
}
local from = "(" .. ARGV[3]
local found = redis.call("ZRANGEBYSCORE", KEYS[1], from, "(" .. string.format("%.0f", BEGUN), "WITHSCORES", "LIMIT", 0, ARGV[4])
for index = 1, #found, 2 do
  reply[#reply + 1] = tonumber(found[index + 1])
  reply[#reply + 1] = redis.call("HGET", KEYS[2], found[index]) or ""
end
return reply
