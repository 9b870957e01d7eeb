import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { Value } from 'typebox/value'
import { Agent, request } from 'undici'
import type { Network } from '../../core/networks.ts'
import { isEvmNetwork } from '../chain/evm/network.ts'
import { isSameAddress } from '../chain/evm/token.ts'
import { headText, type LogHead } from './log.ts'
import { SignatureRefused, type Signer, SignerUnavailable, type SignRequest } from './signer.ts'
import { SweepSignatureRefused, type SweepSigner, type SweepSignRequest } from './sweeps.ts'
import {
  BODY_MOST_BYTES,
  type CallName,
  calls,
  ErrorReply,
  isProof,
  type ReplyOf,
  type RequestOf,
} from './wire.ts'

/** How a service reaches its signer. */
export type SignerPlace =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'https'
      readonly url: string
      /** Of the service: the signer must know who asks. */
      readonly certificate: { readonly cert: string; readonly key: string }
      /** The authority that signed the signer's certificate. */
      readonly ca: string
    }

/** What the settings of the service say about the signer. A signer that differs is not asked to sign. */
export type ExpectedSigner = {
  readonly wallets: Partial<Record<Network, string>>
  /** Absent: the signer is not expected to move coins from deposit addresses. */
  readonly gas_account?: string
  readonly bitcoin_deposits?: string
  /** A difference is only reported: the signer refuses what is above its own limit. */
  readonly amounts_per_hour: { readonly usdt: bigint; readonly btc: bigint }
}

export type SignerCall = {
  readonly call: CallName
  readonly outcome: 'answered' | 'refused' | 'unavailable'
  readonly rule?: string
  readonly seconds: number
}

export type RemoteSignerOptions = {
  readonly place: SignerPlace
  readonly expected: ExpectedSigner
  readonly sealKey: () => Promise<Buffer>
  readonly timeout_ms: number
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly onCall?: (call: SignerCall) => void
}

/** Why the signer cannot be used now, for people; undefined while it can. */
export type SignerState = { readonly problem?: string; readonly log?: LogHead }

export type RemoteSigner = {
  readonly transfers: Signer
  readonly sweeps: Pick<SweepSigner, 'sign'>
  /**
   * Asks the signer who it is, and compares the answer with the settings. Throws `SignerUnavailable`. `without_seal`: does not compare
   * the keys of seals, which needs the database.
   */
  check(options?: { readonly without_seal?: boolean }): Promise<LogHead>
  /** The newest state. Undefined before the first question was answered or failed. */
  state(): SignerState | undefined
  /** Asks again and again until `stop`, and logs when the state changes. */
  watch(): void
  stop(): Promise<void>
}

/** How long a check of the signer is valid; the watch checks more often. */
const CHECKED_MS = 60_000
const WATCH_MS = 10_000

const OTHER_SEAL_KEY =
  'The signer has another seal key than this service. Write the key of this service with trilho signer seal-key, and start the signer with it (SIGNER_SEAL_KEY).'

/**
 * Asks a signer in a process of its own. It has no key. An answer that is lost leaves nothing undone: the same bytes are asked for again,
 * and get the same signature.
 */
export function remoteSigner(options: RemoteSignerOptions): RemoteSigner {
  const connection = openConnection(options)
  const known = openKnowledge(options.log)
  const call = reporting(connection.ask, known, options.onCall)
  const { check, checkIfOld } = openSignerCheck(options, call, known)
  let watching: NodeJS.Timeout | undefined
  return {
    check,
    state: known.state,
    watch() {
      const again = () => void check().catch(() => {})
      again()
      watching ??= setInterval(again, WATCH_MS).unref()
    },
    async stop() {
      clearInterval(watching)
      await connection.close()
    },
    transfers: {
      addresses: async () => options.expected.wallets,
      async keepRoom({ transfer_id, network, amount, cost, earlier }) {
        await checkIfOld()
        const body = { transfer_id, network, amount: `${amount}`, cost: `${cost}`, ...namesOf(earlier) }
        const { exceeded } = await orRefused(transfer_id, () => call('keepRoom', body))
        return exceeded ?? undefined
      },
      async sign(wanted) {
        await checkIfOld()
        return orRefused(wanted.intent.transfer_id, () => call('sign', bodyOf(wanted)))
      },
    },
    sweeps: {
      async sign(wanted) {
        await checkIfOld()
        const { sweep_id, network, purpose, address_index, unsigned } = wanted
        const body = { sweep_id, network, purpose, address_index, unsigned }
        return orSweepRefused(wanted, () => call('signSweep', body))
      },
    },
  }
}

type Ask = <Name extends CallName>(name: Name, body: RequestOf<Name>) => Promise<ReplyOf<Name>>
type Knowledge = ReturnType<typeof openKnowledge>

/** The newest state of the signer. A change is logged once. */
function openKnowledge(log: RemoteSignerOptions['log']) {
  let state: SignerState | undefined
  let longest: LogHead | undefined
  return {
    state: () => state,
    note(next: SignerState): void {
      const is_same = state !== undefined && state.problem === next.problem
      state = next
      if (is_same) return
      if (next.problem === undefined)
        log.info(`signer: ready; the newest line of its log is ${next.log ? headText(next.log) : 'unknown'}`)
      else log.warn(`signer: not available: ${next.problem}`)
    },
    /** The limits are counted from the log: a signer whose log was replaced has forgotten what it signed. */
    problemOfLog(head: LogHead): string | undefined {
      if (longest && head.lines < longest.lines)
        return `The signer’s log has ${head.lines} lines, and had ${longest.lines} before (${headText(longest)}). It was replaced by an older log.`
      longest = head
      return undefined
    },
  }
}

const reporting =
  (ask: Ask, known: Knowledge, onCall: RemoteSignerOptions['onCall']): Ask =>
  async (name, body) => {
    const begun = performance.now()
    const report = (outcome: SignerCall['outcome'], rule?: string) => {
      const seconds = (performance.now() - begun) / 1000
      onCall?.({ call: name, outcome, seconds, ...(rule === undefined ? {} : { rule }) })
    }
    try {
      const reply = await ask(name, body)
      report('answered')
      return reply
    } catch (error) {
      if (error instanceof RefusedByRule) report('refused', error.rule)
      else report('unavailable')
      if (error instanceof SignerUnavailable) known.note({ problem: error.message })
      throw error
    }
  }

/** Nothing is signed before the signer was found to be the one that the settings describe, and again after each failure. */
function openSignerCheck({ expected, sealKey, log }: RemoteSignerOptions, call: Ask, known: Knowledge) {
  let checked_at: number | undefined
  let checking: Promise<LogHead> | undefined
  let has_warned = false

  async function hello(without_seal: boolean): Promise<LogHead> {
    checked_at = undefined
    const challenge = randomBytes(32).toString('hex')
    const said = await call('hello', { challenge })
    const has_seal_key = without_seal || isProof(await sealKey(), challenge, said.proof)
    const problem = has_seal_key
      ? (differenceOf(said, expected) ?? known.problemOfLog(said.log))
      : OTHER_SEAL_KEY
    if (problem !== undefined) {
      known.note({ problem })
      throw new SignerUnavailable(problem)
    }
    if (!has_warned && isLower(said, expected)) {
      has_warned = true
      log.warn(
        'signer: its SIGNER_USDT_PER_HOUR or SIGNER_BTC_PER_HOUR is lower than that of this service: transfers above it are accepted here and never signed',
      )
    }
    if (!without_seal) checked_at = performance.now()
    known.note({ log: said.log })
    return said.log
  }

  const check = ({ without_seal = false } = {}) => {
    checking ??= hello(without_seal).finally(() => {
      checking = undefined
    })
    return checking
  }
  return {
    check,
    async checkIfOld() {
      const is_known = known.state() !== undefined && known.state()?.problem === undefined
      if (!is_known || checked_at === undefined || performance.now() - checked_at > CHECKED_MS) await check()
    },
  }
}

function differenceOf(said: ReplyOf<'hello'>, expected: ExpectedSigner): string | undefined {
  for (const [network, wallet] of Object.entries(expected.wallets) as [Network, string][]) {
    const theirs = said.wallets[network]
    if (theirs === undefined) return `The signer has no key for ${network}.`
    const is_same = isEvmNetwork(network) ? isSameAddress(theirs, wallet) : theirs === wallet
    if (!is_same) return `The signer’s wallet on ${network} is ${theirs}, not ${wallet}.`
  }
  const { gas_account, bitcoin_deposits } = expected
  if (gas_account !== undefined && !(said.gas_account && isSameAddress(said.gas_account, gas_account)))
    return 'SIGNER_DEPOSITS has evm, and the signer does not have the private key of EVM_DEPOSIT_XPUB.'
  if (bitcoin_deposits !== undefined && said.bitcoin_deposits !== bitcoin_deposits)
    return 'SIGNER_DEPOSITS has bitcoin, and the signer does not have the private key of BITCOIN_DEPOSIT_XPUB.'
  return undefined
}

const isLower = ({ amounts_per_hour: theirs }: ReplyOf<'hello'>, { amounts_per_hour: own }: ExpectedSigner) =>
  BigInt(theirs.usdt) < own.usdt || BigInt(theirs.btc) < own.btc

const namesOf = (earlier: readonly string[] | undefined) =>
  earlier === undefined ? {} : { earlier: [...earlier] }

function bodyOf({ intent, purpose, unsigned, reservation, earlier }: SignRequest): RequestOf<'sign'> {
  const { transfer_id, network, destination_address, amount, seal } = intent
  const { wallet } = reservation
  return {
    intent: { transfer_id, network, destination_address, amount: `${amount}`, seal },
    ...{ purpose, unsigned, ...namesOf(earlier) },
    reservation:
      'nonce' in reservation
        ? { wallet, nonce: `${reservation.nonce}` }
        : {
            wallet,
            coins: reservation.coins.map(({ txid, vout, amount, script, address_index }) => ({
              ...{ txid, vout, amount: `${amount}`, script },
              ...(address_index === undefined ? {} : { address_index }),
            })),
          },
  }
}

class RefusedByRule extends Error {
  readonly rule: NonNullable<ErrorReply['error']['rule']>
  constructor(rule: NonNullable<ErrorReply['error']['rule']>, problem: string) {
    super(problem)
    this.rule = rule
  }
}

async function orRefused<Reply>(transfer_id: string, ask: () => Promise<Reply>): Promise<Reply> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RefusedByRule) throw new SignatureRefused(error.rule, transfer_id, error.message)
    throw error
  }
}

async function orSweepRefused<Reply>(wanted: SweepSignRequest, ask: () => Promise<Reply>): Promise<Reply> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RefusedByRule) throw new SweepSignatureRefused(error.rule, wanted, error.message)
    throw error
  }
}

const CONNECTIONS = 4

function openConnection({ place, timeout_ms }: RemoteSignerOptions) {
  const connect =
    place.kind === 'unix'
      ? { socketPath: place.path, timeout: timeout_ms }
      : { ...place.certificate, ca: place.ca, timeout: timeout_ms, minVersion: 'TLSv1.3' as const }
  const agent = new Agent({ connect, connections: CONNECTIONS, keepAliveTimeout: 30_000 })
  const origin = place.kind === 'unix' ? 'http://signer' : place.url

  async function ask<Name extends CallName>(name: Name, body: RequestOf<Name>): Promise<ReplyOf<Name>> {
    const { status, json } = await exchange(calls[name].path, JSON.stringify(body))
    if (status === 200 && Value.Check(calls[name].reply, json)) return json as ReplyOf<Name>
    if (status === 200 || !Value.Check(ErrorReply, json))
      throw new SignerUnavailable('The signer’s answer is not valid: its version may be another one.')
    const { kind, rule, problem } = json.error
    if (kind === 'refused' && rule !== undefined) throw new RefusedByRule(rule, problem)
    throw new SignerUnavailable(`The signer answers ${kind}: ${problem}.`)
  }

  async function exchange(path: string, body: string): Promise<{ status: number; json: unknown }> {
    try {
      const reply = await request(`${origin}${path}`, {
        ...{ method: 'POST', body, dispatcher: agent, signal: AbortSignal.timeout(timeout_ms) },
        headers: { 'content-type': 'application/json' },
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of reply.body) {
        bytes += (chunk as Buffer).length
        if (bytes > BODY_MOST_BYTES) throw new SignerUnavailable('The signer’s answer is too long.')
        chunks.push(chunk as Buffer)
      }
      return { status: reply.statusCode, json: parsed(Buffer.concat(chunks).toString('utf8')) }
    } catch (error) {
      if (error instanceof SignerUnavailable) throw error
      throw new SignerUnavailable(`The signer does not answer (${reasonOf(error)}).`)
    }
  }
  return { ask, close: () => agent.destroy() }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout'
  return code ?? 'connection failed'
}
