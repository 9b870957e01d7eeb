import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../support/certificate.ts'
import { openNameServer } from '../support/name-server.ts'
import { openStage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

test('in production a webhook goes over TLS, to whoever can prove its name and to nobody else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const trusted = selfSigned('hooks.example.test')
  const stranger = selfSigned('hooks.example.test')
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, trusted.cert)

  const seen: { path: string; servername: string | false | undefined; host: string | undefined }[] = []
  const listen = async (certificate: typeof trusted): Promise<number> => {
    const server = createServer(certificate, (request, response) => {
      const { servername } = request.socket as TLSSocket & { servername?: string | false }
      seen.push({ path: request.url!, servername, host: request.headers.host })
      request.resume()
      response.end('ok')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }
  const [good, bad] = [await listen(trusted), await listen(stranger)]
  const names = await openNameServer((name) => (name.endsWith('example.test') ? ['127.0.0.1'] : []))
  onTestFinished(names.stop)
  const env = {
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_DNS: names.address,
    WEBHOOK_RETRY_MS: '10',
    NODE_EXTRA_CA_CERTS: ca,
  }
  const stage = await openStage({ nodes: 0, env })
  onTestFinished(stage.stop)
  const { url } = await stage.start()
  const { api } = await stage.partner(url, { environment: 'production' })

  const plain = await api.post('/v1/webhook_endpoints', {
    url: `http://hooks.example.test:${good}/`,
    events: ['*'],
  })
  expect(plain.json.error.param).toBe('url')
  const targets = {
    right: `https://hooks.example.test:${good}/right`,
    'another name': `https://other.example.test:${good}/other`,
    'an unknown signer': `https://hooks.example.test:${bad}/stranger`,
  }
  const outcomes: Record<string, unknown> = {}
  for (const [name, target] of Object.entries(targets)) {
    const { id } = (await api.post('/v1/webhook_endpoints', { url: target, events: ['customer.created'] }))
      .json
    const { event_id } = (await api.post(`/v1/webhook_endpoints/${id}/test`)).json
    const path = `/v1/webhook_endpoints/${id}/deliveries/${event_id}`
    await until(async () => (await api.get(path)).json.status !== 'pending', 15_000)
    const { status, attempts } = (await api.get(path)).json
    outcomes[name] = [status, attempts[0].error]
  }
  expect(outcomes).toEqual({
    right: ['delivered', undefined],
    'another name': ['exhausted', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    'an unknown signer': ['exhausted', expect.stringMatching(/CERT/)],
  })
  expect(seen).toEqual([
    { path: '/right', servername: 'hooks.example.test', host: `hooks.example.test:${good}` },
  ])
})
