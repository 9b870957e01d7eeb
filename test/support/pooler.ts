import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A pooler between a program and PostgreSQL: it drops the settings of a connection's first packet, or refuses them. */
export async function openPooler(
  database_url: string,
  how: 'drop' | 'refuse',
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const target = new URL(database_url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    client.once('data', (first) => {
      const settings = settingsOf(first)
      if (how === 'refuse' && settings.has('options'))
        return void client.end(refusal('unsupported startup parameter: options'))
      settings.delete('options')
      const upstream = connect(Number(target.port), target.hostname)
      sockets.add(upstream)
      upstream.on('error', () => client.destroy())
      upstream.write(startup(settings))
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(database_url)
  Object.assign(url, { hostname: '127.0.0.1', port: String((server.address() as AddressInfo).port) })
  return {
    url: url.href,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Names and values after the length and the version of the protocol. */
function settingsOf(packet: Buffer): Map<string, string> {
  const words = packet.subarray(8).toString('utf8').split('\0')
  const settings = new Map<string, string>()
  for (let i = 0; i + 1 < words.length && words[i] !== ''; i += 2) settings.set(words[i]!, words[i + 1]!)
  return settings
}

function startup(settings: ReadonlyMap<string, string>): Buffer {
  const text = [...settings].flat().join('\0')
  const body = Buffer.from(`\0\x03\0\0${text}\0\0`)
  return Buffer.concat([length(body.length + 4), body])
}

function refusal(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`)
  return Buffer.concat([Buffer.from('E'), length(body.length + 4), body])
}

function length(bytes: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(bytes)
  return buffer
}
