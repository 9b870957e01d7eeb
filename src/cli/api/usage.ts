import { type Input, type Output, table } from '../command.ts'
import { openClient } from './client.ts'

export async function usage(input: Input): Promise<Output> {
  const { trilho } = await openClient(input)
  const usage = await trilho.usage.get()
  const rows = [
    { what: 'requests this minute', ...usage.minute },
    { what: 'requests today', ...usage.day },
    ...usage.endpoints.map(({ endpoint, ...window }) => ({ what: endpoint, ...window })),
    { what: 'Pix key look-ups', ...usage.lookups },
  ]
  return { json: usage, text: table(rows) }
}
