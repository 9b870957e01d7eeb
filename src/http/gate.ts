import type { PartnerActor } from '../core/actor.ts'
import type { Refusal } from '../core/errors.ts'
import type { Release } from '../core/fair-semaphore.ts'
import type { World } from '../world.ts'
import type { Endpoint, Limits } from './endpoint.ts'
import type { WindowState } from './headers.ts'

/** Decides which requests are admitted. Built in doors/api/gate.ts from keys and limits. */
export type Gate = {
  /** Checks key, address, limits and scope, in this order, and counts the request. */
  admit(request: AdmissionRequest): Promise<Admission>
  /** Counts a request that needs no key; returns a refusal when its address sent too many. */
  visit(address: string): RefusedAdmission | undefined
  /** Uncounts a visit: the request turned out to belong to a signed-in person. */
  takeBackVisit(address: string): void
  /** The window of an address, for the headers of responses without a key. Counts nothing. */
  windowOf(address: string): WindowState
  /** The address a request came from (contract §5: the socket's, unless a trusted proxy says otherwise). */
  addressOf(socket: string, forwarded_for: string | undefined): string
  /** Whether a socket's address is that of a trusted proxy, which many clients share. */
  isTrusted(socket: string): boolean
}

export type AdmissionRequest = {
  readonly authorization: string | undefined
  readonly address: string
  readonly endpoint: Endpoint | undefined
  readonly dry_run: boolean
  /** The request is a long poll. */
  readonly waits: boolean
}

/** The owner of a request whose key is valid. */
export type Requester = {
  readonly world: World
  readonly partner_id: string
  readonly key_id: string
  /** The last four characters of the key value; absent when no key value was sent. */
  readonly last_four?: string
}

type RefusedAdmission = {
  readonly by?: Requester
  readonly window: WindowState
  readonly refusal: Refusal
}

export type Admitted = {
  readonly by: Requester
  readonly refusal?: undefined
  readonly window: WindowState
  /** The window as it is now: the request may have been uncounted. */
  windowNow(): WindowState
  readonly world: World
  readonly actor: PartnerActor
  readonly limits: Limits
  /** Checks key, address and scope again. Returns the actor with its current terms; throws when the key is no longer allowed. */
  confirm(): Promise<PartnerActor>
  /** Counts the request as a look-up of a Pix key, once; throws when there were too many. */
  countLookup(): Promise<void>
  /** Call it when the request has ended. */
  readonly leave: Release
}

export type Admission = RefusedAdmission | Admitted
