#!lua flags=no-writes
-- What other processes have admitted and not renewed since: they may never have heard of it. Of at most 200 that lose
-- their leases last. ARGV: the asking instance, dead instances, milliseconds of the lease, retention.
-- Returns request, instance, request and so on.
local found, leases = {}, redis.call("ZREVRANGE", LEASES, 0, 199, "WITHSCORES")
for index = 1, #leases, 2 do
  local id = leases[index]
  local packed = redis.call("HGET", RESERVATIONS, id)
  local admitted, instance = string.match(packed or "", "^%d+ [01] %d+ %d+ %d+ %d+ (%d+) %d+ (%S+) ")
  local is_other = instance and instance ~= ARGV[1] and not string.find(ARGV[2], " " .. instance .. " ", 1, true)
  local ends = tonumber(leases[index + 1])
  if is_other and ends % 1 == 0 and ends <= tonumber(admitted) + tonumber(ARGV[3]) then
    found[#found + 1] = id
    found[#found + 1] = instance
  end
end
return found
