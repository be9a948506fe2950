#!lua flags=no-writes
-- KEYS: as of audit-write. ARGV: only ids before this one, empty for all; how many. Returns entries, the newest first.
local from = "+"
if ARGV[1] ~= "" then from = "(" .. ARGV[1] end
local entries = {}
for _, id in ipairs(redis.call("ZREVRANGEBYLEX", KEYS[1], from, "-", "LIMIT", 0, ARGV[2])) do
  entries[#entries + 1] = redis.call("HGET", KEYS[2], id) or nil
end
return entries
