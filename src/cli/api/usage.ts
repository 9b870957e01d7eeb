import { type Input, listed, type Output } from '../command.ts'
import { openApiClient } from './client.ts'

export async function usageShow(input: Input): Promise<Output> {
  const { trilho } = await openApiClient(input)
  const usage = await trilho.usage.get()
  const rows = [
    { what: 'requests this minute', ...usage.minute },
    { what: 'requests today', ...usage.day },
    ...usage.endpoints.map(({ endpoint, ...window }) => ({ what: endpoint, ...window })),
    { what: 'Pix key look-ups', ...usage.lookups },
  ]
  return listed(usage, rows)
}
