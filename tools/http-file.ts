import type { Collection, Request } from './collection.ts'
import { variables } from './walk.ts'

/** A `.http` file for editors; ids come from the responses of earlier named requests. */
export function renderHttpFile(collection: Collection, url: string): string {
  const requests = collection.flatMap(({ title, requests }) =>
    requests.map((request) => render(title, request)),
  )
  return [opening(url), ...requests].join('\n')
}

const opening = (
  url: string,
) => `# Every operation of the API, to be sent from the top: what a response gave is in the requests after it.
# For VS Code (REST Client) and Visual Studio. TRILHO_KEY in your environment is a sandbox key: svc_test_sk_…
# The same again makes no second payout or transfer. To make new ones, change run; for another customer, document too.

@url = ${url}
@key = {{$processEnv TRILHO_KEY}}
@document = ${variables.document}
@run = ${variables.run}
`

function render(chapter: string, request: Request): string {
  const { name, title, method, body } = request
  const lines = [
    `### ${chapter}: ${title}`,
    `# @name ${name}`,
    `${method} {{url}}${target(request)}`,
    'Authorization: Bearer {{key}}',
    ...(body ? ['Content-Type: application/json', '', JSON.stringify(body, null, 2)] : []),
  ]
  return `${fromResponses(lines.join('\n'), request)}\n`
}

export function target({ path, query }: Request): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path
}

const fromResponses = (text: string, { takes }: Request): string =>
  takes.reduce(
    (done, { variable, from, field }) =>
      done.replaceAll(`{{${variable}}}`, `{{${from}.response.body.$.${field}}}`),
    text,
  )
