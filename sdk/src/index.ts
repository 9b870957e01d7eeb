export type { Answer, Call, CallOptions, Listing, Page, Repeat } from './call.js'
export { type RequestOptions, randomKey, Trilho } from './client.js'
export { ApiError, type ApiErrorOf, ConnectionError, type Outcome } from './errors.js'
export type * from './generated/types.js'
export { type Asset, decimal, format, type Scale, units } from './money.js'
export {
  type PaidLine,
  type PayLine,
  type PayManyOptions,
  type PayRun,
  payMany,
} from './pay-many.js'
export { isCnpj, isCpf, isPixKey } from './pix-keys.js'
export type { LogEntry } from './send.js'
export type { TrilhoOptions } from './settings.js'
export type { Stream, StreamOptions } from './stream.js'
export { type Payment, StillOpenError, type WaitOptions, waitForEnd } from './wait.js'
export { SignatureError, verifyWebhook, type WebhookHeaders } from './webhooks.js'
