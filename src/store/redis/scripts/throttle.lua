#!lua
-- Counts 1 in every counter, or in none when one is full. Each is the text of "<window number> <used>".
-- KEYS: counters. ARGV: now, length of their windows in milliseconds, then one limit a counter.
-- Returns the milliseconds until every full one has room, false when all were counted.
local now, length = now_of(ARGV[1]), tonumber(ARGV[2])
local current = math.floor(now / length)

local counts, full, waits = {}, {}, -1
for index, key in ipairs(KEYS) do
  local stored = redis.call("GET", key)
  local window, used = string.match(stored or "", "^(%d+) (%d+)$")
  window, used = tonumber(window or 0), tonumber(used or 0)
  local moved_back = false
  if window < current then
    window, used = current, 0
  elseif window - current > 1 then
    -- The clock went back by more than a window, as in windows.ts.
    window, moved_back = current, true
  end
  local count = { key = key, window = window, used = used, moved_back = moved_back }
  counts[index] = count
  if used >= tonumber(ARGV[2 + index]) then
    full[#full + 1] = count
    waits = math.max(waits, (window + 1) * length - now)
  end
end

local function save(count, used)
  -- Kept for a minute and a window longer than it counts: a clock may go back.
  local ttl = (count.window + 2) * length - now + 60000
  redis.call("SET", count.key, string.format("%.0f %.0f", count.window, used), "PX", string.format("%.0f", ttl))
end

if #full > 0 then
  -- Written: the clock was set back, and the stored window lies in the future, where the count would stay full.
  for _, count in ipairs(full) do
    if count.moved_back then save(count, count.used) end
  end
  return waits
end
for _, count in ipairs(counts) do save(count, count.used + 1) end
return false
