import { crashPoint } from '../../core/crash-point.ts'
import { readSigned } from '../chain/bitcoin/bytes.ts'
import { decodePsbt, feeOf, outpointText } from '../chain/bitcoin/transaction.ts'
import { isEvmNetwork } from '../chain/evm/network.ts'
import { decodeTransaction, factsOfSigned } from '../chain/evm/transaction.ts'
import { decodeRaw, txIdOf } from '../chain/tron/transaction.ts'
import { hashOfUnsigned, type SignatureBook } from './book.ts'
import type { SignatureName } from './hourly.ts'
import type { LogEntry, SignerLog, SweepEntry, TransferEntry } from './log.ts'
import { nameOfTransfer, SignatureRefused, type Signer, type SignRequest } from './signer.ts'
import { nameOfSweep, SweepSignatureRefused, type SweepSigner, type SweepSignRequest } from './sweeps.ts'

/**
 * Signers in this process, behind a log: a signature leaves when its line is on disk. One request is worked on at a time, so that what is
 * checked against the log is still true when its line is written.
 */
export type RecordedSigner = Pick<Signer, 'keepRoom' | 'sign'> & {
  signSweep(request: SweepSignRequest): Promise<{ readonly signed: string }>
}

type RecordedOptions = {
  readonly evm?: Signer
  readonly bitcoin?: Signer
  readonly tron?: Signer
  readonly sweeps?: SweepSigner
  readonly book: SignatureBook
  readonly log: Pick<SignerLog, 'append'>
}

export function recordedSigner({ evm, bitcoin, tron, sweeps, book, log }: RecordedOptions): RecordedSigner {
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
  const signerOf = (network: SignRequest['intent']['network'], transfer_id: string): Signer => {
    const found = isEvmNetwork(network) ? evm : { bitcoin, tron }[network]
    if (!found) throw new SignatureRefused('network', transfer_id, `it has no key for ${network}.`)
    return found
  }
  /** A signature that was made within the hour has its line already. */
  const record = async (signature: SignatureName, entry: () => LogEntry) => {
    if (book.hasRecent(signature)) return
    await log.append(entry())
    crashPoint('after_signer_log')
  }

  return {
    keepRoom: (payment) =>
      inTurn(async () => {
        book.checkUnpaid(payment)
        return signerOf(payment.network, payment.transfer_id).keepRoom(payment)
      }),
    sign: (request) =>
      inTurn(async () => {
        const { network, transfer_id } = request.intent
        const signer = signerOf(network, transfer_id)
        book.checkTransfer(request)
        const { signed } = await signer.sign(request)
        await record(nameOfTransfer(request), () => transferEntry(request, signed))
        return { signed }
      }),
    signSweep: (request) =>
      inTurn(async () => {
        if (!sweeps)
          throw new SweepSignatureRefused('network', request, 'it has no key of deposit addresses.')
        const { signed } = await sweeps.sign(request)
        await record(nameOfSweep(sweeps, request), () => sweepEntry(request, signed))
        return { signed }
      }),
  }
}

/** The signer has checked the bytes against the request: what is logged is what the bytes do. */
function transferEntry(request: SignRequest, signed: string): TransferEntry {
  const { intent, purpose, unsigned, reservation } = request
  const { transfer_id, network, destination_address: destination, amount } = intent
  const facts = factsOf(request, signed)
  return {
    ...{ kind: 'transfer', transfer_id, network, purpose, destination, amount: `${amount}` },
    ...{ wallet: reservation.wallet, ...facts, unsigned: hashOfUnsigned(unsigned) },
  }
}

function factsOf({ intent: { network }, unsigned, reservation }: SignRequest, signed: string) {
  if (network === 'bitcoin') return factsOfPsbt(unsigned, signed)
  return network === 'tron' ? factsOfTron(unsigned, reservation) : factsOfEvm(unsigned, signed)
}

/** The nonce is the number of the reservation: the bytes have none. */
function factsOfTron(unsigned: string, reservation: SignRequest['reservation']) {
  const { fee_limit, expiration } = decodeRaw(unsigned)!
  const numbered = 'nonce' in reservation ? { nonce: `${reservation.nonce}` } : {}
  const expires_at = new Date(Number(expiration)).toISOString()
  return { ...numbered, cost: `${fee_limit}`, tx_hash: txIdOf(unsigned), expires_at }
}

function factsOfEvm(unsigned: string, signed: string) {
  const { nonce, max_fee, gas_limit } = decodeTransaction(unsigned)!
  return { nonce: `${nonce}`, cost: `${max_fee * gas_limit}`, tx_hash: factsOfSigned(signed)!.tx_hash }
}

function factsOfPsbt(unsigned: string, signed: string) {
  const draft = decodePsbt(unsigned)!
  const coins = draft.coins.map((coin) => ({ id: outpointText(coin), amount: `${coin.amount}` }))
  return { coins, cost: `${feeOf(draft)}`, tx_hash: readSigned(signed).txid }
}

const AMOUNT_DIGITS = 64

function sweepEntry(request: SweepSignRequest, signed: string): SweepEntry {
  const { sweep_id, network, purpose, address_index, unsigned } = request
  const { to, value, data } = decodeTransaction(unsigned)!
  // A sweep calls transfer(wallet, amount) of the token.
  const [destination, amount] =
    purpose === 'fund'
      ? [to, value]
      : [
          `0x${data.slice(-2 * AMOUNT_DIGITS, -AMOUNT_DIGITS).slice(-40)}`,
          BigInt(`0x${data.slice(-AMOUNT_DIGITS)}`),
        ]
  return {
    ...{ kind: 'sweep', sweep_id, network, purpose, address_index, destination, amount: `${amount}` },
    sender: factsOfSigned(signed)!.sender,
    ...{ ...factsOfEvm(unsigned, signed), unsigned: hashOfUnsigned(unsigned) },
  }
}
