#!lua flags=allow-oom
-- Prolongs the leases of a process, and takes those again that the server has lost or given up.
-- ARGV: now, latest time of execution or 0, milliseconds of the lease, then request, reservation, request and so on, retention.
local now = now_of(ARGV[1])
if ARGV[2] ~= "0" and now > tonumber(ARGV[2]) then return 0 end
if redis.call("EXISTS", USER) == 0 then return 0 end
if redis.call("EXISTS", RESERVATIONS) == 0 then
  -- As in admit: what was held is left of reservations that have been forgotten since; they are taken again below.
  redis.call("HSET", USER, "available", redis.call("HGET", USER, "balance"))
end
-- Half a millisecond sooner, which is the same one to every clock: renewed, that is confirmed by its process.
local ends, looked = now + tonumber(ARGV[3]) - 0.5, redis.call("HGET", USER, "looked")
for index = 4, #ARGV - 1, 2 do
  local id = ARGV[index]
  if redis.call("HEXISTS", RESERVATIONS, id) == 1 then
    redis.call("ZADD", LEASES, ends, id)
  else
    local reservation = orphan(id)
    if reservation then
      forget_orphan(id)
    elseif not is_settled(id) then
      reservation = read(ARGV[index + 1])
    end
    if reservation then
      if reservation.hold ~= "0" then redis.call("HINCRBY", USER, "available", "-" .. reservation.hold) end
      lease(id, reservation, ends, looked)
    end
  end
end
keep_leases()
return 1
