#!lua
-- KEYS: as of audit-chain. ARGV: now, milliseconds for which entries are kept, id, entry, its place, its digest, the digest
-- before it or '', the most that are kept, milliseconds after which one that has begun has lost its process.
-- Adds the entry unless another one was added meanwhile, and takes some of the oldest away: what is too old, by the time
-- that ids begin with, and what is too many. They go in the order of the chain.
-- Returns 1 when it is in the chain, else 0, then place and digest of the newest entry, then entries that have lost their
-- process.
local now, kept = now_of(ARGV[1]), tonumber(ARGV[2])
local ends = redis.call("HMGET", KEYS[3], "seq", "head")
local seq, head = tonumber(ends[1] or 0), ends[2] or ""
local before = tonumber(redis.call("ZSCORE", KEYS[1], ARGV[3]) or BEGUN)
if before == BEGUN then
  if head ~= ARGV[7] or seq + 1 ~= tonumber(ARGV[5]) then return { 0, seq, head } end
  expire_chain(now, kept)
  redis.call("ZADD", KEYS[1], ARGV[5], ARGV[3])
  redis.call("HSET", KEYS[2], ARGV[3], ARGV[4])
  redis.call("HSET", KEYS[3], "seq", ARGV[5], "head", ARGV[6], "at", string.format("%.0f", now))
  seq, head = ARGV[5], ARGV[6]
end

local too_many = redis.call("ZCARD", KEYS[1]) - tonumber(ARGV[8])
local oldest = redis.call("ZRANGE", KEYS[1], 0, 9, "WITHSCORES")
for index = 1, #oldest, 2 do
  local id, place = oldest[index], tonumber(oldest[index + 1])
  if place == BEGUN or id == ARGV[3] or (time_of(id) >= now - kept and index > 2 * too_many) then break end
  if place > 0 then
    local digest = string.match(redis.call("HGET", KEYS[2], id) or "", '^{"seq":%d+,"digest":"(%x+)"')
    redis.call("HSET", KEYS[3], "anchor_seq", string.format("%.0f", place), "anchor", digest or "")
  end
  redis.call("ZREM", KEYS[1], id)
  redis.call("HDEL", KEYS[2], id)
end
keep_for(now, kept)

local reply = { 1, tonumber(seq), head }
for _, id in ipairs(redis.call("ZRANGEBYSCORE", KEYS[1], BEGUN, BEGUN, "LIMIT", 0, 3)) do
  if time_of(id) < now - tonumber(ARGV[9]) then reply[#reply + 1] = redis.call("HGET", KEYS[2], id) or nil end
end
return reply
