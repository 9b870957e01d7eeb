import { expect, test } from 'vitest'
import { moneyActs } from '../../../../src/control/operator/actions.ts'
import { peopleChanges } from '../../../../src/control/operator/people.ts'
import { amountText } from '../../format/amount.ts'
import { en } from '../../text/en/en.ts'
import { ptBR } from '../../text/pt-BR/pt-BR.ts'
import { sentenceOf } from './sentence.ts'

const spoken = [
  ['en', en],
  ['pt-BR', ptBR],
] as const

const customer = { id: 'cus_1', name: 'Carla Mendes', document: '***.982.247-**', status: 'active' }
const partner = { id: 'ptn_1', name: 'Lumen Pagamentos' }
const money = { amount: '1890040', asset: 'BRL', what: 'as stored', customer, partner } as const

const proposed = (action: string, more: Partial<Parameters<typeof sentenceOf>[0]> = {}) =>
  ({ ...money, action, details: {}, ...more }) as Parameters<typeof sentenceOf>[0]

test('every proposal that moves money is confirmed in words with its amount and its person', () => {
  for (const [language, texts] of spoken)
    for (const action of Object.keys(moneyActs).filter(
      (name) => !['move_custody', 'resume_rail'].includes(name),
    ))
      for (const outcome of ['completed', 'confirmed', 'failed']) {
        const sentence = sentenceOf(proposed(action, { details: { outcome } }), texts, language)
        expect([action, sentence]).not.toEqual([action, 'as stored'])
        expect(sentence).toContain(amountText('1890040', 'BRL', { language }))
        expect(sentence).toContain('Carla Mendes')
        if (action === 'pay_fees') expect(sentence).toContain('Lumen Pagamentos')
        const { desk } = texts.operator
        for (const words of [desk.approve_words, desk.refuse_words])
          expect(words(sentence, 'bea@trilho.example')).toContain(sentence)
        expect(desk.withdraw_words(sentence)).toContain(sentence)
      }
})

test('a custody move names the amount and the rail, and each direction has its sentence', () => {
  for (const [language, texts] of spoken) {
    const sentences = ['to_rail', 'from_rail'].map((direction) => {
      const details = { rail: 'tron', direction }
      const nobody = { customer: null, partner: null }
      return sentenceOf(proposed('move_custody', { ...nobody, details }), texts, language)
    })
    for (const sentence of sentences) {
      expect(sentence).toContain(amountText('1890040', 'BRL', { language }))
      expect(sentence).toContain('Tron')
    }
    expect(new Set(sentences).size).toBe(2)
    expect(texts.operator.proposals.action.move_custody).toBeDefined()
  }
})

test('a proposal to resume a rail names the rail', () => {
  const none = { amount: null, asset: null, customer: null, partner: null }
  for (const [language, texts] of spoken) {
    const sentence = sentenceOf(
      proposed('resume_rail', { ...none, details: { rail: 'tron' } }),
      texts,
      language,
    )
    expect(sentence).toContain('Tron')
    expect(texts.operator.proposals.action.resume_rail).toBeDefined()
  }
})

test('every proposal about a person names the person', () => {
  const none = { amount: null, asset: null, customer: null, partner: null }
  for (const [language, texts] of spoken)
    for (const action of Object.keys(peopleChanges)) {
      const details = { email: 'bea@trilho.example', role: 'resolver' }
      const sentence = sentenceOf(proposed(action, { ...none, details }), texts, language)
      expect([action, sentence]).not.toEqual([action, 'as stored'])
      expect(sentence).toContain('bea@trilho.example')
      expect(texts.operator.proposals.action[action]).toBeDefined()
    }
})

test('a proposal about a deposit that does not exist is told in the words of the service', () => {
  const none = { amount: null, asset: null, customer: null, partner: null }
  for (const [language, texts] of spoken)
    expect(sentenceOf(proposed('reverse_credit', none), texts, language)).toBe('as stored')
})

test('fees that are paid outside the service name the partner', () => {
  for (const [language, texts] of spoken)
    expect(sentenceOf(proposed('pay_fees', { customer: null }), texts, language)).toContain(partner.name)
})

test('an outcome at the desk is stated with amount and person, whatever the rail', () => {
  for (const [, texts] of spoken)
    for (const kind of ['payout', 'transfer'] as const)
      for (const paid of [true, false]) {
        const to =
          kind === 'payout' ? 'Carla Mendes, ***.982.247-**' : '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
        const values = {
          amount: 'R$ 18,900.40',
          to,
          customer: 'Carla Mendes',
          kind,
          paid,
          end_to_end_id: 'E1',
        }
        for (const say of [texts.operator.desk.you_say, texts.operator.desk.it_says]) {
          expect(say(values)).toContain('R$ 18,900.40')
          expect(say(values)).toContain('Carla Mendes')
        }
      }
})
