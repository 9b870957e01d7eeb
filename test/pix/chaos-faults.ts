import type { EfiCallName, EfiStub } from './efi-stub.ts'
import type { StubCall, StubFault, StubReply } from './provider-stub.ts'

/**
 * The faults of a run over the stub of Efí. Every answer of the catalogue is lost, late and doubled when it is given for the first times,
 * and every call is met by every failure that takes nothing in. Afterwards faults go on at random. Each one that was played is counted.
 */
export type FaultPlan = {
  /** How often each fault was played, by the answer or the call that met it. */
  readonly played: ReadonlyMap<string, number>
  /** The faults that were not played yet. */
  missing(): readonly string[]
  /** From now on every call is carried out and answered. */
  end(): void
}

type Named = { readonly name: string; readonly fault: StubFault }

const answered = (name: string, http: number, more: Partial<StubReply> = {}): Named => ({
  name,
  fault: { kind: 'answer', reply: { http, body: {}, ...more } },
})
const html = { text: '<html>Bad Gateway</html>', headers: { 'content-type': 'text/html' } }
const soon = { headers: { 'retry-after': '1' } }

/** Failures that take nothing in. Only 401, 403 and 429 say so. */
const failures: readonly Named[] = [
  { name: 'dropped', fault: { kind: 'drop' } },
  answered('429', 429, soon),
  answered('500', 500, { body: { nome: 'erro_aplicacao' } }),
  answered('502 in HTML', 502, html),
  answered('cut', 200, { text: '{"cut' }),
]
const signed: readonly Named[] = [
  answered('401', 401, soon),
  answered('403', 403, { body: { nome: 'insufficient_scope' }, ...soon }),
  answered('404 in HTML', 404, html),
  answered('400 without a row', 400, { body: { nome: 'erro_que_ninguem_conhece' } }),
]
const failuresOf: Readonly<Partial<Record<EfiCallName, readonly Named[]>>> = {
  token: failures,
  send: [...failures, ...signed],
  status: [...failures, ...signed],
  charge: [...failures, ...signed],
  payment: [...failures, ...signed],
  returns: failures,
  balance: failures,
}

const spoiled = (late_ms: number): readonly Named[] => [
  { name: 'lost', fault: { kind: 'lose' } },
  { name: 'late', fault: { kind: 'delay', ms: late_ms } },
  { name: 'doubled', fault: { kind: 'double' } },
]
/** The call was carried out, and whoever asked learns something else. */
const disguised: readonly Named[] = [
  { name: 'replaced by 504 in HTML', fault: { kind: 'replace', reply: { http: 504, ...html } } },
  {
    name: 'replaced by 400 without a row',
    fault: { kind: 'replace', reply: { http: 400, body: { nome: 'erro_que_ninguem_conhece' } } },
  },
  { name: 'replaced by half an answer', fault: { kind: 'replace', reply: { http: 201, text: '{"idEnv' } } },
]

/** The answers that every run must have met. */
const ANSWERS: readonly string[] = [
  'token 200',
  'send 201 EM_PROCESSAMENTO',
  'send 400 chave_nao_pertence_ao_documento',
  'send 404 chave_favorecido_nao_encontrada',
  'send 422 pagamento_negado',
  'send 400 documento_bloqueado',
  'send 400 chave_invalida',
  'send 400 valor_invalido',
  'send 409 id_envio_duplicado',
  'status 200 REALIZADO',
  'status 200 NAO_REALIZADO',
  'status 200 EM_PROCESSAMENTO',
  'status 404 PixEnviadoNaoEncontrado',
  'list 200',
  'charge 201 ATIVA',
  'charge 409 txid_duplicado',
  'charge 400 documento_bloqueado',
  'charge 400 chave_invalida',
  'charge 400 valor_invalido',
  'asked_charge 200 ATIVA',
  'asked_charge 200 CONCLUIDA',
  'received 200',
  'payment 200',
  'payment 400 pix_nao_encontrado',
  'balance 200',
  'returns 200 REALIZADO',
]

/** Of these the taken one is also disguised. */
const TAKEN = ['send 201 EM_PROCESSAMENTO', 'charge 201 ATIVA']
/** A list that is spoiled each time would never be read: every second answer is. */
const LISTS = ['list 200', 'received 200']

const FAILURE_EVERY = 4
/** The balance is read seldom. */
const everyOf = (name: EfiCallName): number => (name === 'balance' ? 2 : FAILURE_EVERY)
const RANDOM_SHARE = 0.1

/** `target`: a fault for one call alone, before all others. */
export function openFaultPlan(
  efi: Pick<EfiStub, 'disturb' | 'disturbAnswers'>,
  {
    late_ms,
    target,
  }: { late_ms: number; target: (name: EfiCallName, call: StubCall) => StubFault | undefined },
): FaultPlan {
  const played = new Map<string, number>()
  const calls = new Map<EfiCallName, number>()
  const answers = new Map<string, number>()
  const next = <K>(map: Map<K, number>, key: K): number => {
    const before = map.get(key) ?? 0
    map.set(key, before + 1)
    return before
  }
  const play = (at: string, { name, fault }: Named): StubFault => {
    next(played, `${at}: ${name}`)
    return fault
  }
  const draw = (faults: readonly Named[]) =>
    Math.random() < RANDOM_SHARE ? faults[Math.floor(Math.random() * faults.length)] : undefined

  efi.disturb((name) => {
    const faults = failuresOf[name]
    if (!faults) return undefined
    const call = next(calls, name)
    const every = everyOf(name)
    const turn = Math.floor(call / every)
    const is_turn = call % every === every - 1
    const chosen = turn < faults.length ? (is_turn ? faults[turn] : undefined) : draw(faults)
    return chosen && play(name, chosen)
  })
  const faultsOf = (answer: string) =>
    TAKEN.includes(answer) ? [...spoiled(late_ms), ...disguised] : spoiled(late_ms)
  efi.disturbAnswers((name, call, reply) => {
    const aimed = target(name, call)
    if (aimed) return aimed
    const answer = answerOf(name, reply)
    const faults = faultsOf(answer)
    const count = next(answers, answer)
    const [turn, is_turn] = LISTS.includes(answer) ? [count / 2, count % 2 === 0] : [count, true]
    const chosen = turn < faults.length ? (is_turn ? faults[turn] : undefined) : draw(faults)
    return chosen && play(answer, chosen)
  })

  const expected = [
    ...ANSWERS.flatMap((answer) => faultsOf(answer).map(({ name }) => `${answer}: ${name}`)),
    ...Object.entries(failuresOf).flatMap(([call, faults]) => faults.map(({ name }) => `${call}: ${name}`)),
  ]
  return {
    played,
    missing: () => expected.filter((name) => !played.has(name)),
    end() {
      efi.disturb(() => undefined)
      efi.disturbAnswers(() => undefined)
    },
  }
}

/** A row of the catalogue: the call, the status, and the word that decides. */
function answerOf(name: EfiCallName, { http, body }: StubReply): string {
  const { status, nome, type } = (body ?? {}) as Record<string, unknown>
  const word = nome ?? (typeof type === 'string' ? type.split('/').at(-1) : status)
  return [name, http, ...(typeof word === 'string' ? [word] : [])].join(' ')
}
