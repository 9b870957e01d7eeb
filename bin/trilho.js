#!/usr/bin/env node
import { existsSync } from 'node:fs'

const compiled = new URL('../dist/cli/trilho.js', import.meta.url)
if (!existsSync(compiled)) {
  console.error('Trilho is not built yet. Run: npm run build')
  process.exit(1)
}
await import(compiled.href)
