import { cpSync } from 'node:fs'

// tsc compiles only TypeScript; what is SQL is read as it is.
for (const folder of ['migrations', 'functions'])
  cpSync(`src/db/${folder}`, `dist/db/${folder}`, { recursive: true })
