-- KEYS: sorted set of the audit log's ids by their place in the chain, 0 for entries without digests and BEGUN for those
-- that have begun; its entries by id; hash of the chain's ends: seq and head of the newest entry and `at`, when it was
-- written; anchor_seq and anchor of the newest one that is no longer kept.
local BEGUN = 9007199254740991

local function time_of(id)
  return tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16)
end

-- When nothing was written for longer than entries are kept, the server has removed all of them.
local function expire_chain(now, kept)
  local at = tonumber(redis.call("HGET", KEYS[3], "at"))
  if not at or at + kept > now or redis.call("ZCOUNT", KEYS[1], 1, BEGUN - 1) > 0 then return end
  local ends = redis.call("HMGET", KEYS[3], "seq", "head")
  redis.call("HSET", KEYS[3], "anchor_seq", ends[1], "anchor", ends[2])
end

local function keep_for(now, kept)
  redis.call("PEXPIRE", KEYS[1], lifetime(now + kept, now))
  redis.call("PEXPIRE", KEYS[2], lifetime(now + kept, now))
end
