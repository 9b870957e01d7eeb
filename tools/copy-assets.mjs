import { cpSync, rmSync } from 'node:fs'

// tsc compiles only TypeScript; what is SQL is read as it is, every file that lies there: none of an earlier build may be left.
for (const folder of ['migrations', 'functions']) {
  rmSync(`dist/db/${folder}`, { recursive: true, force: true })
  cpSync(`src/db/${folder}`, `dist/db/${folder}`, { recursive: true })
}
