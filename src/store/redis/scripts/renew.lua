#!lua flags=allow-oom
-- Prolongs the leases of a process, and restores those that the server has lost or abandoned.
-- ARGV: now, latest time of execution or 0, milliseconds of the lease, then request, reservation, request and so on, retention.
local now = now_of(ARGV[1])
if ARGV[2] ~= "0" and now > tonumber(ARGV[2]) then return 0 end
if redis.call("EXISTS", USER) == 0 then return 0 end
if redis.call("EXISTS", RESERVATIONS) == 0 then
  -- As in admit; they are restored below.
  forget_holds(redis.call("HGET", USER, "balance"))
end
-- Half a millisecond sooner, which is the same one to every clock: renewed, that is confirmed by its process.
local ends, looked = now + tonumber(ARGV[3]) - 0.5, redis.call("HGET", USER, "looked")
for index = 4, #ARGV - 1, 2 do
  local id = ARGV[index]
  if redis.call("HEXISTS", RESERVATIONS, id) == 1 then
    redis.call("ZADD", LEASES, ends, id)
  else
    local reservation = abandoned_reservation(id)
    if reservation then
      forget_abandoned(id)
    elseif not is_settled(id) then
      reservation = read(ARGV[index + 1])
    end
    if reservation then
      take_hold(reservation)
      lease(id, reservation, ends, looked)
    end
  end
end
keep_leases()
return 1
