import fs from 'node:fs'
import { ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

/** Loaded before a program: kills it right before the n-th thing that it does to the world, or right after a response came. */
let left = Number(process.env.KILL_AT)
const step = () => {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}
const stepBefore = (work) =>
  function (...given) {
    step()
    return work.apply(this, given)
  }

for (const name of ['writeSync', 'fsyncSync', 'renameSync']) fs[name] = stepBefore(fs[name])
syncBuiltinESMExports()
const { end } = ServerResponse.prototype
ServerResponse.prototype.end = function (...given) {
  // To read changes nothing, and the test reads as often as it likes.
  if (this.req.method !== 'GET') step()
  return end.apply(this, given)
}

const { fetch } = globalThis
globalThis.fetch = async (...given) => {
  step()
  const response = await fetch(...given)
  step()
  return response
}
