-- Running requests of one user. KEYS of every script that has this part:
local USER, WINDOWS, RESERVATIONS, LEASES, STREAMS, ABANDONED, LEDGER, UNSWEPT = unpack(KEYS)

-- How long reservations without a process are kept, and, the last of ARGV, the ledger's entries, in milliseconds.
local ABANDONED_TTL_MS, RETENTION = 86400000, tonumber(ARGV[#ARGV])

local function read(packed)
  local units, stream, hold, day, hour, minute, stop, instance =
    string.match(packed, "^(%d+) ([01]) (%d+) (%d+) (%d+) (%d+) %d+ (%d+) (%S+) ")
  return {
    units = tonumber(units), stream = stream == "1", hold = hold,
    day = tonumber(day), hour = tonumber(hour), minute = tonumber(minute),
    stop = stop, instance = instance, packed = packed,
    budget = string.match(packed, "\n(%S+)$"),
  }
end

-- What running requests hold of the user's credits, and of the budget of a key: `budget` is "<key>:<period>", or nil.
local function take_hold(reservation)
  if reservation.hold == "0" then return end
  redis.call("HINCRBY", USER, "available", "-" .. reservation.hold)
  if reservation.budget then redis.call("HINCRBY", USER, "held:" .. reservation.budget, reservation.hold) end
end

local function release_hold(reservation)
  if reservation.hold == "0" or redis.call("EXISTS", USER) == 0 then return end
  redis.call("HINCRBY", USER, "available", reservation.hold)
  if not reservation.budget then return end
  local field = "held:" .. reservation.budget
  if redis.call("HINCRBY", USER, field, "-" .. reservation.hold) <= 0 then redis.call("HDEL", USER, field) end
end

-- Nothing runs: what is held is left of reservations that have been forgotten.
local function forget_holds(balance)
  redis.call("HSET", USER, "available", balance)
  for _, field in ipairs(redis.call("HKEYS", USER)) do
    if string.sub(field, 1, 5) == "held:" then redis.call("HDEL", USER, field) end
  end
end

-- What the sweep has to see: an entry, or one that is taken back with '-' in front.
local function note(text)
  if redis.call("RPUSH", UNSWEPT, text) == 1 then redis.call("PEXPIRE", UNSWEPT, RETENTION) end
end

-- Adds to the ledger, behind the time. Old entries go as new ones come, faster than they came. Returns what was added.
local function append(text)
  local now = redis.call("TIME")
  local entry = string.format("%.0f ", now[1] * 1000) .. text
  redis.call("RPUSH", LEDGER, entry)
  redis.call("PEXPIRE", LEDGER, RETENTION)
  note(entry)
  for _ = 1, 2 do
    local oldest = string.match(redis.call("LINDEX", LEDGER, 0), "^%d+")
    if tonumber(oldest) > now[1] * 1000 - RETENTION then break end
    redis.call("LPOP", LEDGER)
  end
  return entry
end

-- Refreshed when a user begins to run something, once a minute, and at each renewal.
local function keep_leases()
  for _, key in ipairs({ RESERVATIONS, LEASES, STREAMS }) do redis.call("PEXPIRE", key, ABANDONED_TTL_MS) end
end

-- `looked` as in `reap`.
local function lease(id, reservation, ends, looked)
  if looked and string.find(looked, " " .. reservation.instance .. " ", 1, true) then
    redis.call("HDEL", USER, "looked")
  end
  redis.call("HSET", RESERVATIONS, id, reservation.packed)
  redis.call("ZADD", LEASES, ends, id)
  if reservation.stream then redis.call("ZADD", STREAMS, reservation.stop, id) end
end

local function release(id, reservation)
  release_hold(reservation)
  redis.call("HDEL", RESERVATIONS, id)
  redis.call("ZREM", LEASES, id)
  if reservation.stream then redis.call("ZREM", STREAMS, id) end
end

-- Slot and hold are freed; a record without a charge stands in the ledger until a late settlement replaces it.
local function abandon(id, reservation, now)
  release(id, reservation)
  redis.call("HSET", ABANDONED, id, append(string.format("%.0f %s %s", now, id, reservation.packed)))
  redis.call("PEXPIRE", ABANDONED, ABANDONED_TTL_MS)
  -- More than is added, so that they never pile up.
  for _, other in ipairs(redis.call("HRANDFIELD", ABANDONED, 2)) do
    local ended = string.match(redis.call("HGET", ABANDONED, other), "^%d+ (%d+) ")
    if tonumber(ended) < now - ABANDONED_TTL_MS then redis.call("HDEL", ABANDONED, other) end
  end
end

-- The reservation of a request that was abandoned, nil of any other.
local function abandoned_reservation(id)
  local entry = redis.call("HGET", ABANDONED, id)
  return entry and read(string.match(entry, "^%d+ %d+ %S+ (.*)$")) or nil
end

-- It goes on after all: the record goes.
local function forget_abandoned(id)
  local entry = redis.call("HGET", ABANDONED, id)
  redis.call("LREM", LEDGER, -1, entry)
  note("-" .. entry)
  redis.call("HDEL", ABANDONED, id)
end

-- Whether a request that nothing is known of stands in the ledger, near its end: another process has settled it. Read
-- once for a script: a renewal may ask for hundreds.
local settled
local function is_settled(id)
  if not settled then
    settled = {}
    for _, entry in ipairs(redis.call("LRANGE", LEDGER, -1000, -1)) do
      settled[string.match(entry, '^%d+ %["([^"]*)",') or ""] = true
    end
  end
  return settled[id] or false
end

-- Abandons requests whose lease has ended, or whose process is dead: `dead` are instances, a blank before and after each. At most 100.
-- `looked`, a field of the user, are the dead that are known to have nothing here: to find out all that runs is read.
-- Returns whether there may have been any.
local function reap(now, dead, but, looked)
  local ended = redis.call("ZRANGEBYSCORE", LEASES, "-inf", now, "LIMIT", 0, 100)
  local unknown = ""
  for instance in string.gmatch(dead, "%S+") do
    local name = " " .. instance .. " "
    if not string.find(looked or "", name, 1, true) then unknown = unknown .. name end
  end
  if unknown ~= "" then
    local all, found = redis.call("HGETALL", RESERVATIONS), false
    for index = 1, #all, 2 do
      if string.find(unknown, " " .. read(all[index + 1]).instance .. " ", 1, true) then
        found = true
        if #ended < 100 then ended[#ended + 1] = all[index] end
      end
    end
    if not found then redis.call("HSET", USER, "looked", (looked or "") .. unknown) end
  elseif dead == "" and looked then
    redis.call("HDEL", USER, "looked")
  end
  for _, id in ipairs(ended) do
    local packed = redis.call("HGET", RESERVATIONS, id)
    -- One may be found by its lease and by its process.
    if packed and id ~= but then abandon(id, read(packed), now) end
  end
  return #ended > 0
end
