import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, isIPv4, isIPv6 } from 'node:net'

export type NameServer = { readonly address: string; queries(): number; stop(): Promise<void> }

const A = 1
const AAAA = 28

/** A DNS server over UDP that answers with what it is told to, asked anew for each query; TTL 0. */
export async function openNameServer(
  addressesOf: (name: string, type: 'A' | 'AAAA') => readonly string[],
): Promise<NameServer> {
  const socket = createSocket('udp4')
  let queries = 0
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message)
    queries++
    const all = addressesOf(name, type === A ? 'A' : 'AAAA')
    const found = all.filter(type === A ? isIPv4 : type === AAAA ? isIPv6 : () => false)
    const head = Buffer.from(message.subarray(0, 12))
    // An answer, with recursion; NXDOMAIN when the name has no address at all.
    head.writeUInt16BE(0x8180 | (all.length === 0 ? 3 : 0), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt32BE(0, 8)
    const records = found.map((each) => recordOf(type, each))
    socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    queries: () => queries,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  while (message[at] !== 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!))
    at += 1 + message[at]!
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function recordOf(type: number, address: string): Buffer {
  const data = type === A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  const dotted = /(.*:)([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)$/.exec(address)
  const hex = (a: string, b: string) => ((Number(a) << 8) | Number(b)).toString(16)
  const text = dotted ? `${dotted[1]}${hex(dotted[2]!, dotted[3]!)}:${hex(dotted[4]!, dotted[5]!)}` : address
  const [before = [], after = []] = text.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
