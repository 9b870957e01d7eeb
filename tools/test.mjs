import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compileSdk } from './sdk-dist.mjs'

// `npm test` runs the quick suite with `npm run check` beside it, because most tests wait for a database and leave the processor
// idle. `npm run test:slow` runs the slow suite alone. Which file belongs to which is in vitest.config.ts. Further arguments go
// to Vitest: `npm test -- src/ledger`.
const root = fileURLToPath(new URL('..', import.meta.url))
const [suite, ...args] = process.argv.slice(2)
const begun = performance.now()

compileSdk()
const check =
  suite === 'quick' && args.length === 0 ? run('npm', ['run', '--silent', 'check'], 'pipe') : undefined
const tests = run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], 'inherit')
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    check?.child.kill(signal)
    tests.child.kill(signal)
  })

check?.ended.then(({ code, output }) => {
  if (code !== 0) console.error(`${output}\nnpm run check failed: see above. The tests go on.\n`)
})
const results = await Promise.all([tests.ended, check?.ended])
const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
console.log(`The ${suite} suite${check ? ', and the checks beside it,' : ''} took ${minutes} minutes.`)
if (results[1] && results[1].code !== 0) console.error('npm run check failed: its output is above.')
process.exitCode = results.some((result) => result && result.code !== 0) ? 1 : 0

function run(program, args, stdio) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, SUITE: suite },
    stdio: ['ignore', stdio, stdio],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code: code ?? signal, output })),
  )
  return { child, ended }
}
