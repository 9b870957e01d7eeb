import { errors } from '../../../src/core/errors.ts'
import { hasValueIn } from '../../../src/doors/reference/example.ts'
import { detailsOf, document, follow, misfit, type Operation, responseOf } from './document.ts'
import type { Exchange } from './exchange.ts'
import { isAllowed } from './requests.ts'

type Rule = {
  readonly code: string
  readonly param?: RegExp
  readonly operation?: RegExp
  readonly why: string
}

/** What the schemas allow and a rule refuses with 400 all the same, each with its reason. */
const rules: readonly Rule[] = [
  { code: 'invalid_pix_key', why: 'check digits and area codes are beyond a pattern' },
  { code: 'invalid_address', why: 'checksums, and which network it is of, are beyond a pattern' },
  { code: 'unsupported_network', why: 'which asset moves on which network takes both fields' },
  { code: 'invalid_request', param: /(^|\.)document$/, why: 'check digits are beyond a pattern' },
  {
    code: 'invalid_request',
    param: /^url$/,
    why: 'which host, port and scheme it may be is beyond a pattern',
  },
  {
    code: 'invalid_request',
    param: /^cursor$|^after$/,
    why: 'a cursor is of one list and its filters, and never with after',
  },
  {
    code: 'invalid_request',
    param: /^(address|network)$/,
    operation: /^sandbox\.deposits\.receive$/,
    why: 'it takes an address, or a customer and a network; an address may be in use on several networks',
  },
  { code: 'invalid_request', param: /^amount_asset$/, why: 'it must be one of the two assets' },
  {
    code: 'invalid_request',
    param: /^partner_fee_bps$/,
    why: 'how much it may be is agreed with each partner',
  },
  { code: 'invalid_request', param: /^price$/, why: 'zero is beyond a pattern that people can read' },
  {
    code: 'invalid_request',
    param: /^(to|from|created_after|created_before)$/,
    why: 'a range must not end before it begins',
  },
  {
    code: 'invalid_request',
    param: /^override(\.|$)/,
    operation: /^sandbox\.events\.create$/,
    why: 'which fields there are is told by the kind in the path',
  },
  {
    code: 'invalid_json',
    operation: /^sandbox\.events\.create$/,
    why: 'how deep a body may be is beyond a schema, and override takes any object',
  },
  {
    code: 'invalid_json',
    operation: /^sandbox\.deposits\.receive$/,
    why: 'the schema of an address has no pattern, and no text may contain U+0000',
  },
  {
    code: 'invalid_request',
    param: /^charge_id$/,
    operation: /^sandbox\.(payments\.create|charges\.expire)$/,
    why: 'a charge without a code cannot be paid, and does not expire',
  },
  {
    code: 'invalid_amount',
    param: /^amount$/,
    operation: /^sandbox\.payments\.create$/,
    why: 'a payment without a charge needs an amount',
  },
  {
    code: 'invalid_request',
    param: /^payout_id$/,
    operation: /^sandbox\.payouts\.send_back$/,
    why: 'only a completed payout can come back',
  },
  {
    code: 'invalid_request',
    param: /^amount$/,
    operation: /\.send_back$/,
    why: 'no more goes back than was paid',
  },
  {
    code: 'invalid_request',
    param: /^grace_hours$/,
    why: 'it may be in the query or in the body, but must not be two figures',
  },
  {
    code: 'invalid_request',
    param: /^endpoint_id$/,
    operation: /^events\.redeliver$/,
    why: 'a test event goes to the endpoint that it was made for',
  },
]

/** Not the service's fault: production has no networks here, and a sandbox price may be set to be old. */
const unavailable = ['rail_unavailable', 'price_unavailable']

/** The answer to a HEAD request has no body and so no code: there it is enough that the operation declares one of them. */
const isUnavailable = (operation: Operation, method: string, status: number, code: string | undefined) =>
  method === 'HEAD'
    ? status === 503 && (operation['x-errors'] as string[]).some((each) => unavailable.includes(each))
    : code !== undefined && unavailable.includes(code)

/** What is wrong with an answer; empty when nothing is. */
export function judge(exchange: Exchange): string[] {
  const { plan, sent, status, headers } = exchange
  const strange = plan.method !== plan.operation.method || /path|broken/.test(plan.twist ?? '')
  const json = parse(exchange.text)
  const code: string | undefined = json?.error?.code
  const faults: string[] = []
  const say = (fault: string | false | undefined) => fault && faults.push(fault)
  const { operation } = plan

  say(status >= 500 && !isUnavailable(operation, sent.method, status, code) && 'a fault of the service')
  say(status >= 400 && sent.method !== 'HEAD' && misfitOfError(json, headers))
  const response = responseOf(operation, status)
  if (strange) {
    for (const name of Object.keys(document.components.headers).filter(isAlways))
      say(headerFault(name, headers))
    return faults
  }
  if (!response) return [...faults, `${status} is not declared`]
  for (const name of Object.keys(response.headers)) say(headerFault(name, headers))
  say(code !== undefined && !(operation['x-errors'] as string[]).includes(code) && `${code} is not declared`)
  const { schema } = response.content?.['application/json'] ?? {}
  const is_file = response.content?.['application/pdf'] !== undefined
  const wrong = schema && misfit(schema, json, 'answer')
  say(wrong && `the answer does not fit its schema: ${wrong}`)
  say(!schema && !is_file && exchange.text !== '' && 'a body where none is declared')
  say(
    is_file && sent.method !== 'HEAD' && !exchange.text.startsWith('%PDF-') && 'no PDF where one is declared',
  )
  if (status < 300) faults.push(...statesIn(json))

  const allowed = isAllowed(plan, sent)
  say(allowed === false && status < 300 && 'taken, although the schemas do not allow it')
  say(
    allowed === true &&
      status === 400 &&
      !isRule(operation['x-name'], json) &&
      `refused, although the schemas allow it`,
  )
  return faults
}

const isAlways = (name: string) => name.startsWith('X-')

function isRule(operation: string, json: any): boolean {
  const { code, param = '' } = json?.error ?? {}
  return rules.some(
    (rule) =>
      rule.code === code && (rule.param?.test(param) ?? true) && (rule.operation?.test(operation) ?? true),
  )
}

function misfitOfError(json: any, headers: Exchange['headers']): string | undefined {
  const wrong = misfit({ $ref: '#/components/schemas/Error' }, json, 'answer')
  if (wrong) return `no error object: ${wrong}`
  const { error } = json
  const known = errors[error.code as keyof typeof errors]
  if (known?.type !== error.type) return `${error.code} has the type ${error.type}`
  if (!headers['idempotent-replayed'] && error.request_id !== headers['x-request-id'])
    return 'another request id'
  const schema = detailsOf(error.code)
  return schema && error.details && misfit(schema, error.details, 'answer')
}

/** A header that is declared as required is there, and any that is there has its form. */
function headerFault(name: string, headers: Exchange['headers']): string | undefined {
  const { required, schema } = follow(document.components.headers[name] as any)
  const text = headers[name.toLowerCase()]
  if (text === undefined) return required ? `no header ${name}` : undefined
  const value = schema.type === 'integer' ? Number(text) : text
  const wrong = misfit(schema, value, 'answer')
  return wrong && `${name}: ${wrong}`
}

/** Only for as long as something else is on its way, whatever the state. */
const anyState = ['failing_since', 'previous_secret_until']

/** Objects in a state that have what only another state has. */
function statesIn(value: any): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { status } = value
  const here =
    typeof status !== 'string' || value.quote_id
      ? []
      : Object.keys(value).filter(
          (name) => value[name] !== null && !anyState.includes(name) && !hasValueIn(name, status, value),
        )
  return [...here.map((name) => `${name} in the state ${status}`), ...Object.values(value).flatMap(statesIn)]
}

export function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
