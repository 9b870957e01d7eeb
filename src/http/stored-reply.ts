import type { Answer } from '../ledger/command.ts'

/** An answer that goes out as it was stored, and not as the endpoint would make it now. */
export class Answered {
  readonly answer: Answer
  readonly replayed: boolean
  constructor(answer: Answer, replayed: boolean) {
    this.answer = answer
    this.replayed = replayed
  }
}
