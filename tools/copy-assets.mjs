import { cpSync, rmSync } from 'node:fs'

// tsc does not copy SQL files and fonts. The target is emptied first, because the service reads every file there and one from an earlier
// build must not remain.
for (const folder of ['db/migrations', 'db/functions', 'money/receipts/fonts']) {
  rmSync(`dist/${folder}`, { recursive: true, force: true })
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
}
