import type { RefusalReason } from '../rail.ts'

/**
 * Every answer of Efí that says something about a payment, as data. An answer without a row here is `unknown`, whatever its status:
 * above all, a 4xx without a row is no refusal, because only a refusal returns the money.
 */
type Row<Outcome> = {
  readonly http: number
  /** `status` of a payment, or the name of an error. Absent: any. */
  readonly says?: string
  readonly outcome: Outcome
}

type SendOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly is_ours?: true }
  /** `after_s`: where the answer has no Retry-After. */
  | { readonly kind: 'later'; readonly after_s: number }

/** Answers that take nothing in, to any call. */
const laterAnswers = [
  // The client has renewed its token once, and was refused again.
  { http: 401, outcome: { kind: 'later', after_s: 60 } },
  { http: 403, says: 'insufficient_scope', outcome: { kind: 'later', after_s: 60 } },
  { http: 429, outcome: { kind: 'later', after_s: 30 } },
] as const

const provider_error = { kind: 'refused', reason: 'provider_error' } as const

/** Answers to `PUT /v3/gn/pix/:idEnvio`. */
export const sendAnswers: readonly Row<SendOutcome>[] = [
  { http: 201, says: 'EM_PROCESSAMENTO', outcome: { kind: 'accepted' } },
  {
    http: 400,
    says: 'chave_nao_pertence_ao_documento',
    outcome: { kind: 'refused', reason: 'recipient_document_mismatch' },
  },
  {
    http: 404,
    says: 'chave_favorecido_nao_encontrada',
    outcome: { kind: 'refused', reason: 'recipient_key_not_found' },
  },
  { http: 422, says: 'pagamento_negado', outcome: provider_error },
  // The account is blocked, EFI_PIX_KEY is not a key of the account, or Efí does not take the amount.
  { http: 400, says: 'documento_bloqueado', outcome: { ...provider_error, is_ours: true } },
  { http: 400, says: 'chave_invalida', outcome: { ...provider_error, is_ours: true } },
  { http: 400, says: 'valor_invalido', outcome: { ...provider_error, is_ours: true } },
  // Efí has a payment under this id, so the answer to an earlier try was lost. No machine returns the money after that, even if status
  // queries do not find the payment.
  { http: 409, says: 'id_envio_duplicado', outcome: { kind: 'accepted' } },
  ...laterAnswers,
]

type StatusOutcome =
  | { readonly kind: 'settled' | 'refused' | 'accepted' | 'absent' }
  | { readonly kind: 'unknown'; readonly after_s: number }

/**
 * Answers to `GET /v2/gn/pix/enviados/id-envio/:idEnvio`, and to `GET /v2/gn/pix/enviados/:e2eId`, which tells what came back of a
 * payment. A refusal there has a code of the Pix network.
 *
 * Assumed: Efí's documentation shows no payment that came back. Its list of payments can be filtered by `devolucaoPresente`, and in
 * its sandbox a payment of 4.00 comes back in two returns of 2.00, so they are expected in `devolucoes`, in the form that payments
 * received have there, while the payment stays `REALIZADO`. Any other state of a payment is an answer without a row.
 */
export const statusAnswers: readonly Row<StatusOutcome>[] = [
  { http: 200, says: 'REALIZADO', outcome: { kind: 'settled' } },
  { http: 200, says: 'NAO_REALIZADO', outcome: { kind: 'refused' } },
  { http: 200, says: 'EM_PROCESSAMENTO', outcome: { kind: 'accepted' } },
  { http: 404, says: 'PixEnviadoNaoEncontrado', outcome: { kind: 'absent' } },
  { http: 429, outcome: { kind: 'unknown', after_s: 30 } },
]

export type ChargeAnswer =
  /** The charge must be the one that was asked for, and its code must be valid. */
  | { readonly kind: 'registered' }
  /** Efí has a charge under this txid: it is asked for, and compared. */
  | { readonly kind: 'known' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'later'; readonly after_s: number }

/** Answers to `PUT /v2/cob/:txid`. */
export const chargeAnswers: readonly Row<ChargeAnswer>[] = [
  { http: 201, says: 'ATIVA', outcome: { kind: 'registered' } },
  { http: 409, says: 'txid_duplicado', outcome: { kind: 'known' } },
  { http: 400, says: 'documento_bloqueado', outcome: { kind: 'refused' } },
  { http: 400, says: 'chave_invalida', outcome: { kind: 'refused' } },
  { http: 400, says: 'valor_invalido', outcome: { kind: 'refused' } },
  ...laterAnswers,
]

/** Answers to `GET /v2/cob/:txid`, after Efí has said that it knows the txid. `CONCLUIDA`: somebody has paid already. */
export const knownChargeAnswers: readonly Row<ChargeAnswer>[] = [
  { http: 200, says: 'ATIVA', outcome: { kind: 'registered' } },
  { http: 200, says: 'CONCLUIDA', outcome: { kind: 'registered' } },
  { http: 200, says: 'REMOVIDA_PELO_USUARIO_RECEBEDOR', outcome: { kind: 'refused' } },
  { http: 200, says: 'REMOVIDA_PELO_PSP', outcome: { kind: 'refused' } },
  ...laterAnswers,
]

/** Answers to `GET /v2/pix/:e2eId`. Efí answers 400, not 404, about a payment that it does not know. */
export const receivedAnswers: readonly Row<{ readonly kind: 'received' | 'absent' }>[] = [
  { http: 200, outcome: { kind: 'received' } },
  { http: 400, says: 'pix_nao_encontrado', outcome: { kind: 'absent' } },
]

/** The row of an answer; undefined if the catalogue has none. */
export const rowOf = <Outcome>(
  rows: readonly Row<Outcome>[],
  { http, says }: { readonly http: number; readonly says: string | undefined },
): Outcome | undefined =>
  rows.find((row) => row.http === http && (row.says === undefined || row.says === says))?.outcome
