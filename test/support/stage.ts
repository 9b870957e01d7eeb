import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Asset, money } from '../../src/core/money.ts'
import { deposit } from '../../src/money/deposits/deposits.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { type Api, openApi } from './api.ts'
import { createDatabase } from './database.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from './service.ts'

/**
 * Several servers, each a process of its own, over one database; the journal of what their simulated rails were told; and
 * direct access to set up and to look. The nodes can be killed, and come back on another port.
 */
export type Stage = Awaited<ReturnType<typeof openStage>>

type Node = Awaited<ReturnType<typeof spawnServer>>

export async function openStage(options: {
  nodes: number
  database_url?: (url: string) => Promise<string>
  env?: Record<string, string>
}) {
  const database = await createDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'trilho-stage-'))
  const journal = join(folder, 'journal')
  const direct = openDirectAccess(database)
  const url = (await options.database_url?.(database.url)) ?? database.url
  const env = testEnv(url, { SANDBOX_JOURNAL: journal, ...options.env })
  const { partner_id, key } = await direct.partner('')
  const nodes: Node[] = []
  const started: Node[] = []

  /** A server that is not one of the nodes, but ends with them. */
  async function start(more: Record<string, string> = {}): Promise<Node> {
    const node = await spawnServer({ ...env, ...more })
    started.push(node)
    return node
  }
  /** One that is to die at its first work; undefined: it found some, and so its end, before it was ready. */
  async function startDoomed(more: Record<string, string>): Promise<Node | undefined> {
    try {
      return await start(more)
    } catch (error) {
      if ((error as Error).message.startsWith('the server ended with SIGKILL')) return undefined
      throw error
    }
  }
  async function stop(): Promise<void> {
    await Promise.all(started.map((node) => node.kill('SIGKILL')))
    await direct.stop()
    await rm(folder, { recursive: true, force: true })
  }

  const starting = await Promise.allSettled(Array.from({ length: options.nodes }, () => start()))
  for (const node of starting) {
    if (node.status === 'fulfilled') nodes.push(node.value)
    else {
      await stop()
      throw node.reason
    }
  }

  return {
    ...direct,
    database,
    env,
    journal,
    partner_id,
    start,
    startDoomed,
    client: (address: string): Api => openApi(address, key),
    /** A client of one of the nodes; any number will do. */
    api: (node: number): Api => openApi(nodes[node % nodes.length]!.url, key),
    /** Kills a node, and puts a new process in its place. */
    async crash(node: number): Promise<void> {
      await nodes[node % nodes.length]!.kill('SIGKILL')
      nodes[node % nodes.length] = await start()
    },
    /** A customer with money that no server of the stage had a hand in. */
    async customer(balances: Partial<Record<Asset, bigint>>): Promise<string> {
      const world = direct.worlds.sandbox
      const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
      for (const [asset, units] of Object.entries(balances) as [Asset, bigint][]) {
        const order = { partner_id, customer_id: id, rail: 'sandbox' as const, money: money(asset, units) }
        await world.commit(deposit(world, order))
      }
      return id
    },
    stop,
  }
}
