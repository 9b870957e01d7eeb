import type { StoredResponse } from '../ledger/command.ts'

/** A stored response, sent byte for byte instead of rendered again. */
export class StoredReply {
  readonly response: StoredResponse
  readonly replayed: boolean
  constructor(response: StoredResponse, replayed: boolean) {
    this.response = response
    this.replayed = replayed
  }
}
