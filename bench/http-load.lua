-- For wrk: POSTs bodies over kept-alive connections, as http-load.ts does.
-- Arguments: path, key, a file with one body for each line, and a file with one line for each request or nothing.
local path, key, bodies, lines
local sent = 0

local function read(name)
  local found = {}
  for line in io.lines(name) do
    found[#found + 1] = line
  end
  return found
end

function init(args)
  path, key = args[1], args[2]
  bodies = read(args[3])
  lines = args[4] and read(args[4]) or {}
  local seed = io.open('/dev/urandom', 'rb')
  local a, b, c, d = seed:read(4):byte(1, 4)
  seed:close()
  math.randomseed(((a * 256 + b) * 256 + c) * 256 + d)
end

local function unique()
  local part = function(digits)
    return string.format('%0' .. digits .. 'x', math.random(0, 16 ^ digits - 1))
  end
  return part(4) .. part(4) .. '-' .. part(4) .. '-4' .. part(3) .. '-a' .. part(3) .. '-' .. part(6) .. part(6)
end

function request()
  sent = sent + 1
  local body = (bodies[(sent - 1) % #bodies + 1] or ''):gsub('{{unique}}', unique)
  local headers = { ['authorization'] = 'Bearer ' .. key, ['content-type'] = 'application/json' }
  return wrk.format('POST', (path:gsub('{{line}}', lines[sent] or 'none-left')), headers, body)
end

function done(summary, latency)
  local failed = summary.errors
  io.write(string.format(
    '\n{"per_second":%.0f,"p50":%.3f,"p99":%.3f,"errors":%d,"count":%d}\n',
    (summary.requests - failed.status) / summary.duration * 1e6,
    latency:percentile(50) / 1000,
    latency:percentile(99) / 1000,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout,
    summary.requests - failed.status
  ))
end
