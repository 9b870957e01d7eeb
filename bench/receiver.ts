import { type AddressInfo, createServer } from 'node:net'

/**
 * A webhook receiver in its own process. It answers 2xx at once and reports its counts on request. It uses bare sockets,
 * because on two cores a full HTTP server would take CPU time from what is measured.
 */
export type Receipts = {
  readonly count: number
  readonly first_at: number
  readonly last_at: number
  readonly lags: number[]
}

const YES = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const LENGTH = 'content-length: '
const CREATED = '"created_at":"'
const LAGS_KEPT = 5000

let receipts = { count: 0, first_at: 0, last_at: 0, lags: [] as number[] }

function note(body: string): void {
  const now = Date.now()
  receipts.count++
  receipts.first_at ||= now
  receipts.last_at = now
  if (receipts.lags.length >= LAGS_KEPT) return
  const at = body.indexOf(CREATED) + CREATED.length
  receipts.lags.push(now - Date.parse(body.slice(at, at + 24)))
}

const server = createServer((socket) => {
  let text = ''
  socket.setNoDelay(true).setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    text += chunk
    for (;;) {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const at = text.toLowerCase().indexOf(LENGTH)
      const whole = end + 4 + Number.parseInt(text.slice(at + LENGTH.length, at + LENGTH.length + 9), 10)
      if (text.length < whole) return
      note(text.slice(end + 4, whole))
      text = text.slice(whole)
      socket.write(YES)
    }
  })
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))

process.on('message', (message: 'look' | 'take') => {
  process.send!(message === 'look' ? { ...receipts, lags: [] } : receipts)
  if (message === 'take') receipts = { count: 0, first_at: 0, last_at: 0, lags: [] }
})
process.on('disconnect', () => process.exit())
