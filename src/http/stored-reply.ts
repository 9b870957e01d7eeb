import type { StoredResponse } from '../ledger/command.ts'

/** An answer that goes out as it was stored, and not as the endpoint would make it now. */
export class StoredReply {
  readonly response: StoredResponse
  readonly replayed: boolean
  constructor(response: StoredResponse, replayed: boolean) {
    this.response = response
    this.replayed = replayed
  }
}
