import type { PartnerActor } from '../core/actor.ts'
import type { Refusal } from '../core/errors.ts'
import type { Leave } from '../core/turns.ts'
import type { World } from '../world.ts'
import type { Endpoint, Limits } from './endpoint.ts'
import type { WindowState } from './headers.ts'

/** Who may come in. Built in api/gate.ts from keys and limits; the server only asks. */
export type Gate = {
  /** Judges key, address, limits and scope, in this order, and counts the request. */
  admit(knock: Knock): Promise<Admission>
  /** Counts a request that needs no key; says no when its address sent too many of them. */
  visit(address: string): TurnedAway | undefined
  /** Takes a visit back: the request turned out to belong to somebody who is signed in. */
  takeBackVisit(address: string): void
  /** The window of an address, for answers that need no key. Counts nothing. */
  windowOf(address: string): WindowState
  /** The address a request came from (contract §5: the socket's, unless a trusted proxy says otherwise). */
  addressOf(socket: string, forwarded_for: string | undefined): string
  /** Whether a socket's address is that of a proxy, behind which are many. */
  isTrusted(socket: string): boolean
}

export type Knock = {
  readonly authorization: string | undefined
  readonly address: string
  readonly endpoint: Endpoint | undefined
  readonly dry_run: boolean
  /** The caller wants to wait for something to answer with. */
  readonly waits: boolean
}

/** Whose request it is, once its key was found good. */
export type Requester = {
  readonly world: World
  readonly partner_id: string
  readonly key_id: string
  /** The end of the value that was used; absent where none was. */
  readonly last_four?: string
}

export type TurnedAway = {
  readonly by?: Requester
  readonly window: WindowState
  readonly refusal: Refusal
}

export type Admitted = {
  readonly by: Requester
  readonly refusal?: undefined
  readonly window: WindowState
  /** The window once more: what was counted may have been taken back. */
  windowNow(): WindowState
  readonly world: World
  readonly actor: PartnerActor
  readonly limits: Limits
  /** Judges key, address and scope once more, after a while: whoever acts, as it is now. Throws when it may not any longer. */
  confirm(): Promise<PartnerActor>
  /** Counts the request as a look-up, once; throws when there were too many. */
  countLookup(): Promise<void>
  /** To be called when the request is done with. */
  readonly leave: Leave
}

export type Admission = TurnedAway | Admitted
