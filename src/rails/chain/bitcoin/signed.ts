import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Transaction } from '@scure/btc-signer/transaction.js'
import type { SignedFacts } from './rail.ts'

/** Reads a signed transaction. Throws for bytes that are none. */
export function readSigned(signed: string): SignedFacts {
  const transaction = Transaction.fromRaw(hexToBytes(signed), {
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
    disableScriptCheck: true,
  })
  const places = (length: number) => Array.from({ length }, (_, place) => place)
  return {
    txid: transaction.id,
    vsize: transaction.vsize,
    inputs: places(transaction.inputsLength).map((place) => {
      const { txid, index } = transaction.getInput(place)
      return { txid: bytesToHex(txid!), vout: index! }
    }),
    outputs: places(transaction.outputsLength).map((place) => {
      const { amount, script } = transaction.getOutput(place)
      return { amount: amount!, script: bytesToHex(script!) }
    }),
  }
}
