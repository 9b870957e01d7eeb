import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Loaded before a program: its disk has room for so many bytes. As a real one, it takes what fits and only then says no. */
let room = Number(process.env.ROOM)
const { writeSync } = fs
fs.writeSync = (file, content, offset = 0) => {
  if (room === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  const fitting = Buffer.from(content).subarray(offset).subarray(0, room)
  room -= fitting.length
  return writeSync(file, fitting)
}
syncBuiltinESMExports()
