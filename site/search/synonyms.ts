import type { Language } from '../page.ts'

/**
 * Synonyms: each word also finds the pages that contain the listed words. Written as the search normalises them: lower case, no
 * accents, singular. The Portuguese words under `en` are for topics that only English pages cover.
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
