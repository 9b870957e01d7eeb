import { expect } from 'vitest'
import { scrape } from './metrics.ts'
import type { TestService } from './service.ts'

/** What must hold whatever was sent: the books are right, the server works, and none of its answers was a 5xx. */
export async function expectIntact(service: TestService): Promise<void> {
  const { production, sandbox } = await service.audit()
  expect(sandbox.findings).toEqual([])
  expect(sandbox.ok).toBe(true)
  expect(production.ok).toBe(true)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  const metrics = await scrape(service.url)
  expect(metrics).toContain('trilho_http_request_seconds_count')
  expect(metrics.split('\n').filter((line) => /_count\{.*status="5/.test(line))).toEqual([])
}
