#!lua flags=allow-oom
-- Ends a request. ARGV: request, 1 to give its units back, charge, ledger entry or '', the latest time at which a request
-- that nothing is known of is charged all the same, or 0, then, of a key with a budget, what a charge is spent of when the
-- reservation does not say so, retention. Returns 1, 0 when nothing was changed, or 'late' and now when
-- that is because the latest time has passed.
local id, give_back, charge, latest = ARGV[1], ARGV[2] == "1", ARGV[3], ARGV[5]
local packed = redis.call("HGET", RESERVATIONS, id)
local reservation = packed and read(packed) or abandoned_reservation(id)
if not reservation then
  if ARGV[4] == "" or latest == "0" then return 0 end
  local now = now_of("0")
  if now > tonumber(latest) then return { "late", now } end
  if is_settled(id) then return 0 end
end

-- @param budget "<key>:<period>", or nil.
local function spend(budget)
  if not budget or redis.call("HINCRBY", USER, "spent:" .. budget, charge) ~= tonumber(charge) then return end
  -- The first of its period: those of former periods go, but for the last one, for clocks waver at the edge.
  local key, period = string.match(budget, "^(.*):(%d+)$")
  for _, field in ipairs(redis.call("HKEYS", USER)) do
    local other, before = string.match(field, "^spent:(.*):(%d+)$")
    if other == key and tonumber(before) < tonumber(period) - 1 then redis.call("HDEL", USER, field) end
  end
end

-- First what may fail: nothing is rolled back.
if charge ~= "0" and redis.call("EXISTS", USER) == 1 then
  redis.call("HINCRBY", USER, "balance", "-" .. charge)
  redis.call("HINCRBY", USER, "available", "-" .. charge)
  redis.call("HINCRBY", USER, "charged", charge)
  spend(reservation and reservation.budget or (#ARGV > 6 and ARGV[6] or nil))
end
if ARGV[4] ~= "" then append(ARGV[4]) end
if not reservation then return 1 end
if packed then release(id, reservation) else forget_abandoned(id) end

if give_back then
  local counts = counts_of(redis.call("GET", WINDOWS))
  -- Not below 0: after a clock that went back and forth, a window of the same number may have been opened afresh.
  if counts.day == reservation.day then counts.d = math.max(0, counts.d - reservation.units) end
  if counts.hour == reservation.hour then counts.h = math.max(0, counts.h - 1) end
  if counts.minute == reservation.minute then counts.m = math.max(0, counts.m - 1) end
  save_counts(WINDOWS, counts)
end
return 1
