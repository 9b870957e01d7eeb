import { cpSync } from 'node:fs'

// tsc compiles only TypeScript; the migrations are read as they are.
cpSync('src/db/migrations', 'dist/db/migrations', { recursive: true })
