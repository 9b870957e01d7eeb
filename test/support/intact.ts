import { expect } from 'vitest'
import { scrape } from './metrics.ts'
import type { TestService } from './service.ts'
import { slowness } from './wait.ts'

/** So many times slower than a quiet machine, a server that refuses with 503 what takes too long does what it promises. */
const BUSY = 4

/**
 * What must hold whatever was sent: the books are right, the server works, and none of its answers was a 5xx. A machine that is busy with
 * other work may cause a 503.
 */
export async function expectIntact(service: TestService): Promise<void> {
  const { production, sandbox } = await service.audit()
  expect(sandbox.findings).toEqual([])
  expect(sandbox.ok).toBe(true)
  expect(production.ok).toBe(true)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  const metrics = await scrape(service.url)
  expect(metrics).toContain('trilho_http_request_seconds_count')
  const bad = slowness() > BUSY ? /_count\{.*status="5(?!03)/ : /_count\{.*status="5/
  expect(metrics.split('\n').filter((line) => bad.test(line))).toEqual([])
}
