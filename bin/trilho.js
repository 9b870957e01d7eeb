#!/usr/bin/env node
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiled = new URL('../dist/cli/trilho.js', import.meta.url)

// In a fresh checkout the first command compiles the program; what it prints is not part of the command's own output.
if (!existsSync(compiled)) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    console.error('Trilho is not built, and building it failed. Run: npm ci && npm run build')
    process.exit(1)
  }
}
await import(compiled.href)
