import { cpSync, rmSync } from 'node:fs'

// tsc does not copy SQL files. The target is emptied first, because the service reads every file there and one from an earlier
// build must not remain.
for (const folder of ['migrations', 'functions']) {
  rmSync(`dist/db/${folder}`, { recursive: true, force: true })
  cpSync(`src/db/${folder}`, `dist/db/${folder}`, { recursive: true })
}
