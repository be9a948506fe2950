#!lua flags=no-writes
-- Returns the reservations that have a lease. ARGV: now, retention.
local ids = redis.call("ZRANGEBYSCORE", LEASES, "(" .. string.format("%.0f", now_of(ARGV[1])), "+inf")
local found = {}
for _, id in ipairs(ids) do found[#found + 1] = redis.call("HGET", RESERVATIONS, id) or nil end
return found
