import { readFileSync, writeFileSync } from 'node:fs'
import { commands } from '../src/cli/commands/all.ts'
import { endpoints } from '../src/doors/api/endpoints.ts'
import { buildConsoleDocument } from '../src/doors/console-api/document.ts'
import { consoleEndpoints } from '../src/doors/console-api/endpoints.ts'
import { buildOpenApi } from '../src/doors/reference/openapi.ts'
import { eventSamples } from '../src/doors/sandbox/samples.ts'
import { renderEnvExample } from '../src/node/config.ts'
import { version } from '../src/node/version.ts'
import { renderOperatorCliPage, renderPartnerCliPage } from './cli-page.ts'
import { buildCollection } from './collection.ts'
import { renderConsoleTypes } from './console-types.ts'
import { renderHttpFile } from './http-file.ts'
import { renderPixKeyRules } from './pix-key-rules.ts'
import { buildPostman } from './postman.ts'
import { renderPython } from './python.ts'
import { type Document, renderSdk } from './sdk.ts'
import { fillTables } from './tables.ts'

/** Writes every generated file, and the generated tables of ARCHITECTURE.md. With --check it only reports which are stale. */
type Generated = { readonly path: string; readonly content: string }

const locate = (path: string) => new URL(`../${path}`, import.meta.url)

const readSource = (path: string) => readFileSync(locate(path), 'utf8')

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const url = 'http://127.0.0.1:8080'
const openapi = buildOpenApi({ endpoints, events: eventSamples(endpoints), public_url: url, version })
const collection = buildCollection(openapi)
const sdk = renderSdk(openapi as unknown as Document)

/** Documents that tell partners which package to install. */
const naming = [
  'README.md',
  'docs/quickstart.md',
  'docs/pt/quickstart.md',
  'docs/sdk.md',
  'docs/guides/payroll.md',
  'sdk/README.md',
  'cli/README.md',
  'examples/README.md',
  'docs/python.md',
  'python/README.md',
]

const withVersion = (text: string) =>
  text.replaceAll(/\b(trilho-(?:sdk-|cli-)?)\d+\.\d+\.\d+(?=\.tgz|-py3-none-any\.whl)/g, `$1${version}`)

const files: readonly Generated[] = [
  { path: 'openapi.json', content: json(openapi) },
  { path: 'docs/trilho.http', content: renderHttpFile(collection, url) },
  {
    path: 'docs/trilho.postman_collection.json',
    content: json(buildPostman(collection, { title: openapi.info.title, version, url })),
  },
  { path: 'sdk/src/generated/types.ts', content: sdk.types },
  { path: 'sdk/src/generated/operations.ts', content: sdk.operations },
  { path: 'sdk/src/generated/pix-key.ts', content: renderPixKeyRules(readSource) },
  ...Object.entries(renderPython(openapi as unknown as Document)).map(([name, content]) => ({
    path: `python/trilho/${name}`,
    content,
  })),
  {
    path: 'console/src/api/types.ts',
    content: renderConsoleTypes(buildConsoleDocument(consoleEndpoints, version)),
  },
  { path: '.env.example', content: renderEnvExample() },
  { path: 'docs/cli.md', content: renderPartnerCliPage(commands, version) },
  { path: 'docs/operate/cli.md', content: renderOperatorCliPage(commands) },
  ...naming.map((path) => ({ path, content: withVersion(readSource(path)) })),
  { path: 'ARCHITECTURE.md', content: fillTables(readSource('ARCHITECTURE.md')) },
]

function isStale({ path, content }: Generated): boolean {
  try {
    return readFileSync(locate(path), 'utf8') !== content
  } catch {
    return true
  }
}

const stale = files.filter(isStale)
if (process.argv.includes('--check')) {
  for (const { path } of stale) console.error(`${path} is stale. Run: npm run generate`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const { path, content } of stale) writeFileSync(locate(path), content)
  console.log(stale.length > 0 ? `Wrote ${stale.map(({ path }) => path).join(', ')}.` : 'Nothing to write.')
}
