import type { Language } from '../page.ts'

/**
 * What people call things that the pages call otherwise: each word also finds what these find. As search writes them: small
 * letters, no accents, one and not many. The Portuguese ones below English are for what only English pages tell.
 */
export const synonyms: Readonly<Record<Language, Readonly<Record<string, readonly string[]>>>> = {
  en: {
    callback: ['webhook'],
    chargeback: ['reversal', 'failed'],
    currency: ['asset', 'money'],
    fx: ['conversion'],
    paging: ['list'],
    pagination: ['list'],
    quota: ['limit'],
    rate: ['limit'],
    refund: ['reversal', 'failed'],
    throttling: ['limit'],
    token: ['key'],
    withdrawal: ['payout', 'transfer'],

    devolucao: ['reversal', 'failed'],
    estorno: ['reversal', 'failed'],
    moeda: ['asset', 'money'],
    paginacao: ['list'],
    reembolso: ['reversal', 'failed'],
    taxa: ['fee'],
  },
  pt: {
    senha: ['chave'],
    taxa: ['tarifa'],
    transferencia: ['pagamento'],
  },
}
