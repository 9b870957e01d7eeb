import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { helpers } from './processes.ts'
import type { Receipts } from './receiver.ts'
import type { Stage } from './stage.ts'

/** A webhook endpoint for all event types, with a receiver on this machine. */
export type Endpoint = {
  readonly id: string
  received(): Promise<number>
  /** Deliveries since the last call. */
  take(): Promise<Receipts>
  close(): Promise<void>
}

export async function openEndpoint(stage: Stage): Promise<Endpoint> {
  const path = fileURLToPath(new URL('./receiver.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  helpers.add(child.pid!)
  const [{ port }] = await once(child, 'message')
  const ask = async (message: 'look' | 'take'): Promise<Receipts> => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  const { id } = await stage.call('POST', '/v1/webhook_endpoints', {
    url: `http://127.0.0.1:${port}/`,
    events: ['*'],
  })
  return {
    id,
    received: async () => (await ask('look')).count,
    take: () => ask('take'),
    async close() {
      await stage.call('DELETE', `/v1/webhook_endpoints/${id}`)
      const gone = once(child, 'exit')
      child.disconnect()
      helpers.delete(child.pid!)
      await gone
    },
  }
}
