#!lua
-- Admits a request: all windows, the stream slot and the hold in one step.
-- ARGV: now, latest time of execution or 0, request, limits of day, hour, minute and streams ('' without), units,
-- 1 for a stream, hold, whether credits are enforced, the principal's version or '', milliseconds of the lease, dead
-- instances, the admitting instance, model, the hold of the longest answer or '', then, of a key with a budget, the key,
-- day, month or total and the amount, and retention.
-- Returns a word, now, the six counts and, when it is 'ok', the reservation; one text, a blank after each.
local id, units, stream, hold = ARGV[3], tonumber(ARGV[8]), ARGV[9] == "1", ARGV[10]
local now = now_of(ARGV[1])
if ARGV[2] ~= "0" and now > tonumber(ARGV[2]) then return string.format("late %.0f", now) end

local user = redis.call("HMGET", USER, "created", "version", "stop", "balance", "available", "looked")
local stored = counts_of(redis.call("GET", WINDOWS))
local before = counts_at(stored, now)

local function answer(word, counts, packed)
  return string.format("%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s", word, now,
    counts.day, counts.d, counts.hour, counts.h, counts.minute, counts.m, packed or "")
end

if ARGV[12] ~= "" and ARGV[12] ~= user[2] then return answer("principal", before) end
if not user[1] then return answer("unknown", before) end

local running = redis.call("HGET", RESERVATIONS, id)
if running then return answer("ok", before, running) end

local reaped = reap(now, ARGV[14], id, user[6])
local abandoned = abandoned_reservation(id)
if abandoned then
  -- Repeated after its lease had ended: counted already.
  forget_abandoned(id)
  take_hold(abandoned)
  lease(id, abandoned, now + tonumber(ARGV[13]), redis.call("HGET", USER, "looked"))
  keep_leases()
  return answer("ok", before, abandoned.packed)
end

local available = reaped and redis.call("HGET", USER, "available") or user[5]
if available ~= user[4] and redis.call("EXISTS", RESERVATIONS) == 0 then
  available = user[4]
  forget_holds(available)
end

-- Whether an amount is below another that is not negative. Numbers of Lua are too coarse.
local function below(amount, other)
  if string.sub(amount, 1, 1) == "-" then return true end
  if #amount ~= #other then return #amount < #other end
  return amount < other
end

-- The sum of two amounts that are not negative.
local function sum(a, b)
  local low = tonumber(string.sub(a, -9)) + tonumber(string.sub(b, -9))
  local high = (tonumber(string.sub(a, 1, -10)) or 0) + (tonumber(string.sub(b, 1, -10)) or 0)
  if low >= 1e9 then low, high = low - 1e9, high + 1 end
  if high == 0 then return string.format("%.0f", low) end
  return string.format("%.0f%09.0f", high, low)
end

-- What is left of an amount that is not negative, less one that is not greater.
local function difference(a, b)
  local low = tonumber(string.sub(a, -9)) - tonumber(string.sub(b, -9))
  local high = (tonumber(string.sub(a, 1, -10)) or 0) - (tonumber(string.sub(b, 1, -10)) or 0)
  if low < 0 then low, high = low + 1e9, high - 1 end
  if high == 0 then return string.format("%.0f", low) end
  return string.format("%.0f%09.0f", high, low)
end

-- The number of the day or month (UTC) that it is, as in kit/key-limits.ts.
local function period_of(per)
  if per == "total" then return 0 end
  local days = math.floor(now / 86400000)
  if per == "day" then return days end
  -- Years that begin in March, in eras of 400 of them: a leap day is the last of its year.
  local era = math.floor((days + 719468) / 146097)
  local day = days + 719468 - era * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  local day_of_year = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  return (era * 400 + year) * 12 + math.floor((5 * day_of_year + 2) / 153) + 2
end

local budget = #ARGV > 18 and string.format("%s:%.0f", ARGV[18], period_of(ARGV[19])) or nil
local used = "0"
if budget then
  local amounts = redis.call("HMGET", USER, "spent:" .. budget, "held:" .. budget)
  used = sum(amounts[1] or "0", amounts[2] or "0")
end

local function exceeds_budget()
  return budget and hold ~= "0" and below(ARGV[20], sum(used, hold))
end

-- While less is left than the longest answer costs, that is all of it. Called when the hold fits.
local function effective_hold()
  if ARGV[17] == "" or hold == "0" then return hold end
  local left = ARGV[11] == "1" and available or nil
  if budget then
    local rest = difference(ARGV[20], used)
    if not left or below(rest, left) then left = rest end
  end
  return left and below(left, ARGV[17]) and left or hold
end

local after = {
  day = before.day, d = before.d + units,
  hour = before.hour, h = before.h + 1,
  minute = before.minute, m = before.m + 1,
}

local function over(used, limit) return limit ~= "" and used > tonumber(limit) end

local refusal
if ARGV[11] == "1" and hold ~= "0" and below(available, hold) then
  refusal = "credits"
elseif exceeds_budget() then
  refusal = "budget"
elseif over(after.d, ARGV[4]) then
  refusal = "day"
elseif over(after.h, ARGV[5]) then
  refusal = "hour"
elseif over(after.m, ARGV[6]) then
  refusal = "minute"
elseif stream and ARGV[7] ~= "" and redis.call("ZCARD", STREAMS) >= tonumber(ARGV[7]) then
  refusal = "streams"
end
if refusal then
  -- Written: the clock was set back, and the stored window lies in the future, where the count would stay full.
  if before.day < stored.day or before.hour < stored.hour or before.minute < stored.minute then
    save_counts(WINDOWS, before)
  end
  return answer(refusal, before)
end

hold = effective_hold()
-- First what may fail: nothing is rolled back.
take_hold({ hold = hold, budget = budget })
local packed = string.format("%s %s %s %.0f %.0f %.0f %.0f %s %s %s",
  ARGV[8], ARGV[9], hold, after.day, after.hour, after.minute, now, user[3], ARGV[15], ARGV[16])
if budget then packed = packed .. "\n" .. budget end
save_counts(WINDOWS, after)
lease(id, { packed = packed, stream = stream, stop = user[3], instance = ARGV[15] },
  now + tonumber(ARGV[13]), user[6])
if after.minute ~= stored.minute or redis.call("HLEN", RESERVATIONS) == 1 then keep_leases() end
return answer("ok", after, packed)
