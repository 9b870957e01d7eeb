import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver in a process of its own. Says yes at once, and tells what came when it is asked. */
export type Receipts = { readonly count: number; readonly at: number[]; readonly lags: number[] }

let at: number[] = []
let lags: number[] = []
const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => {
    const now = Date.now()
    at.push(now)
    lags.push(now - Date.parse(JSON.parse(text).created_at))
    response.end()
  })
})
server.keepAliveTimeout = 30_000
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))

process.on('message', (message: 'look' | 'take') => {
  const receipts: Receipts =
    message === 'look' ? { count: at.length, at: [], lags: [] } : { count: at.length, at, lags }
  process.send!(receipts)
  if (message === 'take') [at, lags] = [[], []]
})
process.on('disconnect', () => process.exit())
