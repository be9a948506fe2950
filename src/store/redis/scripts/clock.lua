-- The time in milliseconds: as given, else, for 0, the server's.
local function now_of(given)
  local now = tonumber(given)
  if now > 0 then return now end
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Milliseconds after which a key whose content ends at `ends` may go: later by a minute, because clocks may go back.
local function lifetime(ends, now)
  return string.format("%.0f", math.max(tonumber(ends) - now, 0) + 60000)
end
