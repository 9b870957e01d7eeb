import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { until } from './wait.ts'

/** A load balancer in front of nodes that listen on ports of this machine; it sends traffic to those that /readyz calls ready. */
type Balancer = {
  readonly kind: string
  readonly url: string
  /** Until the balancer itself counts this node among the ready ones, or no longer does. */
  waitFor(node: number, state: 'up' | 'down'): Promise<void>
  stop(): Promise<void>
}

const SWITCH_MS = 60_000

const haproxyProgram = ['haproxy', '/usr/sbin/haproxy'].find(
  (program) => spawnSync(program, ['-v']).status === 0,
)

/** HAProxy with the file of deploy/ where HAProxy is installed, else a small TCP balancer. */
export const openBalancer = (ports: readonly number[]): Promise<Balancer> =>
  haproxyProgram ? openHaproxy(haproxyProgram, ports) : openTcpBalancer(ports)

async function openHaproxy(program: string, [first, second]: readonly number[]): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-haproxy-'))
  const admin = join(folder, 'admin')
  const file = join(folder, 'haproxy.cfg')
  const port = await freePort()
  const shipped = readFileSync(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8')
  const config = shipped
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace('192.0.2.11:8080', `127.0.0.1:${first}`)
    .replace('192.0.2.12:8080', `127.0.0.1:${second}`)
    .replace('maxconn 4096', `maxconn 512\n  stats socket ${admin} level user`)
    // HAProxy repairs nothing: every connection that a node refuses is a failed request.
    .replace('mode http', 'mode http\n  retries 0')
  await writeFile(file, config)
  const haproxy = spawn(program, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [haproxy.stdout, haproxy.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const stateOf = async (node: number) => {
    const table = await ask(admin, 'show stat\n').catch(() => '')
    const columns = table.split('\n').find((line) => line.startsWith(`nodes,node-${node + 1},`))
    return columns?.split(',')[17]?.startsWith('UP') ? 'up' : 'down'
  }
  await until(async () => {
    if (haproxy.exitCode !== null) throw new Error(`HAProxy ended:\n${output}`)
    return (await ask(admin, 'show info\n').catch(() => '')) !== ''
  }, SWITCH_MS)
  return {
    kind: 'HAProxy',
    url: `http://127.0.0.1:${port}`,
    waitFor: (node, state) => until(async () => (await stateOf(node)) === state, SWITCH_MS),
    async stop() {
      await end(haproxy)
      await rm(folder, { recursive: true })
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function ask(socket_path: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socket_path)
    let answer = ''
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer))
    socket.write(command)
  })
}

const CHECK_MS = 500

/** New connections go to ready nodes in turn. A connection stays with its node, so a client must obey Connection: close. */
async function openTcpBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Set<number>()
  let stopped = false
  let turn = 0
  const sockets = new Set<ReturnType<typeof connect>>()
  const server = createServer((client) => {
    const up = [...ready].sort()
    const port = ports[up[turn++ % Math.max(1, up.length)] ?? -1]
    if (port === undefined) return void client.destroy()
    const node = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const checking = ports.map(async (port, node) => {
    while (!stopped) {
      const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      await reply?.text().catch(() => undefined)
      if (reply?.status === 200) ready.add(node)
      else ready.delete(node)
      await sleep(CHECK_MS)
    }
  })
  return {
    kind: 'a TCP balancer',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waitFor: (node, state) => until(() => ready.has(node) === (state === 'up'), SWITCH_MS),
    async stop() {
      stopped = true
      await Promise.all(checking)
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
