import { makeBrCode } from '../../src/core/br-code.ts'
import type { BankCharge, BankReturn, ReceivedPayment, SentPayment } from './bank.ts'

/**
 * The bodies of Efí, in the words of its documentation (dev.efipay.com.br/docs/api-pix): *Envio e Pagamento Pix*, *Cobranças imediatas*,
 * *Gestão de Pix* and *Webhooks*. Where no example is there, the comment says what is assumed.
 */
export function reais(centavos: bigint): string {
  const digits = centavos.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

export const centavos = (text: string): bigint => BigInt(text.replace('.', ''))

/**
 * *Consultar Pix enviado*. Assumed: `devolucoes`, which the documentation does not show for payments that were sent, although their list
 * can be filtered by `devolucaoPresente`. Its form is that of *Consultar Pix*.
 */
export function sentBody({ id, end_to_end_id, amount, order, end, returns }: SentPayment) {
  const { chave } = (order as { pagador: { chave: string } }).pagador
  const common = { endToEndId: end_to_end_id, idEnvio: id, valor: reais(amount), chave }
  const back = returns.length > 0 ? { devolucoes: returns.map(returnBody) } : {}
  if (typeof end === 'string')
    return { ...common, status: end === 'settled' ? 'REALIZADO' : 'EM_PROCESSAMENTO', ...back }
  const erro = { codigo: end.refused, origem: 'SPI', motivo: 'refused' }
  return { ...common, status: 'NAO_REALIZADO', gnExtras: { erro } }
}

/** `devolucoes` in *Consultar Pix*. */
export const returnBody = ({ id, amount, at, state }: BankReturn) => ({
  id: id.slice(1, 30),
  rtrId: id,
  valor: reais(amount),
  horario: {
    solicitacao: at.toISOString(),
    ...(state === 'settled' ? { liquidacao: at.toISOString() } : {}),
  },
  status: { settled: 'DEVOLVIDO', open: 'EM_PROCESSAMENTO', refused: 'NAO_REALIZADO' }[state],
  ...(state === 'refused' ? { motivo: 'Saldo insuficiente para realizar a devolução.' } : {}),
})

/** *Consultar Pix*, and an item of *Consultar Pix recebidos*. */
export const receivedBody = ({ end_to_end_id, txid, amount, paid_at, returns }: ReceivedPayment) => ({
  endToEndId: end_to_end_id,
  ...(txid === undefined ? {} : { txid }),
  valor: reais(amount),
  chave: 'pagador@example.com',
  horario: paid_at.toISOString(),
  ...(returns.length > 0 ? { devolucoes: returns.map(returnBody) } : {}),
})

/** *Criar cobrança imediata (com txid)*, the answer 201. The code of the documentation's example has no valid CRC; a real one has. */
export const chargeBody = ({ txid, amount, pix_key, seconds, description, created_at }: BankCharge) => {
  const location = `qrcodespix.sejaefi.com.br/v2/${txid.toLowerCase()}`
  return {
    calendario: { criacao: created_at.toISOString(), expiracao: seconds },
    ...{ txid, revisao: 0, location, status: 'ATIVA' },
    valor: { original: reais(amount) },
    chave: pix_key,
    ...(description === undefined ? {} : { solicitacaoPagador: description }),
    pixCopiaECola: makeBrCode({ url: location, name: 'EFISA', city: 'SAOPAULO' }),
  }
}

/** *Consultar cobrança*: the seconds are text there. */
export function askedChargeBody(charge: BankCharge, received: readonly ReceivedPayment[]) {
  const { calendario, ...body } = chargeBody(charge)
  const paid = received.filter(({ txid }) => txid === charge.txid)
  return {
    ...body,
    calendario: { ...calendario, expiracao: String(calendario.expiracao) },
    ...(paid.length > 0 ? { status: 'CONCLUIDA', pix: paid.map(receivedBody) } : {}),
  }
}

/** *Recebendo Callbacks*: a payment that came in, also when something of it was given back. */
export const receivedNotice = (payment: ReceivedPayment) => ({
  pix: [
    {
      ...receivedBody(payment),
      gnExtras: { pagador: { nome: 'Ana Souza', cpf: '52998224725', codigoBanco: '60701190' } },
    },
  ],
})

/**
 * *Recebendo Callbacks*: a payment that was sent. Assumed: when it comes back, the same notice comes again with `devolucoes`. The
 * documentation's SDK names such notices `DEVOLUCAO_RECEBIDA`, and shows none.
 */
export function sentNotice(payment: SentPayment) {
  const { idEnvio, ...body } = sentBody(payment)
  return { pix: [{ ...body, tipo: 'SOLICITACAO', gnExtras: { idEnvio } }] }
}
