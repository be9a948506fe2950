-- The counts of the three windows, the text of "<day> <used> <hour> <used> <minute> <used>", as in windows.ts.
local DAY, HOUR, MINUTE = 86400000, 3600000, 60000

-- Far longer than any window: a clock may go back.
local KEPT = 3 * DAY

local function count_at(window, used, length, now)
  local current = math.floor(now / length)
  if window < current then return current, 0 end
  if window - current <= 1 then return window, used end
  return current, used
end

local function counts_of(stored)
  local day, d, hour, h, minute, m = string.match(stored or "", "^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$")
  if not day then return { day = 0, d = 0, hour = 0, h = 0, minute = 0, m = 0 } end
  return {
    day = tonumber(day), d = tonumber(d),
    hour = tonumber(hour), h = tonumber(h),
    minute = tonumber(minute), m = tonumber(m),
  }
end

local function counts_at(stored, now)
  local counts = {}
  counts.day, counts.d = count_at(stored.day, stored.d, DAY, now)
  counts.hour, counts.h = count_at(stored.hour, stored.h, HOUR, now)
  counts.minute, counts.m = count_at(stored.minute, stored.m, MINUTE, now)
  return counts
end

local function save_counts(key, counts)
  local text = string.format("%.0f %.0f %.0f %.0f %.0f %.0f",
    counts.day, counts.d, counts.hour, counts.h, counts.minute, counts.m)
  redis.call("SET", key, text, "PX", KEPT)
end
