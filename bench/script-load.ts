import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { runFor } from './load.ts'
import { type ScriptJob, sessionOf } from './pgbench.ts'

/**
 * Runs a script when pgbench is not installed. It supports the part of pgbench's language that the scripts here use, and is
 * slower.
 */
const job: ScriptJob = JSON.parse(process.argv[2]!)

type Step =
  | { readonly kind: 'random'; readonly name: string; readonly from: string; readonly to: string }
  | {
      readonly kind: 'statement'
      readonly name: string
      readonly text: string
      readonly used: string[]
      readonly prefix?: string | undefined
    }

const steps: Step[] = readFileSync(job.file, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('--'))
  .map(stepOf)

function stepOf(line: string, n: number): Step {
  const set = /^\\set (\w+) random\((\S+), (\S+)\)$/.exec(line)
  if (set) return { kind: 'random', name: set[1]!, from: set[2]!, to: set[3]! }
  const stored = / \\gset ?(\w*)$/.exec(line)
  const used: string[] = []
  const text = line.slice(0, stored?.index).replace(/(?<!:):([a-z_]\w*)/gi, (_, name: string) => {
    if (!used.includes(name)) used.push(name)
    return `$${used.indexOf(name) + 1}`
  })
  return { kind: 'statement', name: `step ${n}`, text, used, prefix: stored?.[1] }
}

type Variables = Record<string, string | null>

async function runScript(client: pg.Client): Promise<boolean> {
  const variables: Variables = { customers: String(job.customers) }
  const numberOf = (word: string) => Number(word.startsWith(':') ? variables[word.slice(1)] : word)
  for (const step of steps) {
    if (step.kind === 'random') {
      variables[step.name] = String(randomInt(numberOf(step.from), numberOf(step.to) + 1))
      continue
    }
    const { name, text, used, prefix } = step
    const { rows } = await client.query({ name, text, values: used.map((each) => variables[each]) })
    if (prefix !== undefined)
      for (const [column, value] of Object.entries(rows[0])) variables[prefix + column] = value as string
  }
  return true
}

// Values are not parsed: they stay the server's text.
const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig
const clients = await Promise.all(
  Array.from({ length: job.clients }, async () => {
    const options = sessionOf(job.schema)
    const client = new pg.Client({ connectionString: job.database_url, options, types: asText })
    await client.connect()
    return client
  }),
)
const measure = await runFor(job.seconds, job.clients, (worker) => runScript(clients[worker]!))
await Promise.all(clients.map((client) => client.end()))
process.stdout.write(JSON.stringify(measure))
