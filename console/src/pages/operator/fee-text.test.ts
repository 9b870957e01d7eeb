import { expect, test } from 'vitest'
import { operator as en } from '../../text/en/operator.ts'
import { feeText, gasPaidText } from './fee-text.ts'

const words = en.desk.transactions

test('fees of a transaction are said in gwei and in the coin of the network', () => {
  const terms = { max_fee_per_gas: '61500000000', max_priority_fee_per_gas: '1500000000', gas_limit: '65000' }
  expect(feeText(terms, { rail: 'polygon', words, language: 'en' })).toBe(
    'costs at most 0.003998 POL: 61.5 gwei per gas, of which 1.5 for the miner',
  )
  expect(feeText(terms, { rail: 'optimism', words, language: 'pt-BR' })).toContain('0,003998 ETH')
})

test('terms that are not known here are shown as they are stored', () => {
  const terms = { fee_limit: '8357100', energy: '83571', bandwidth: '349', burn: '8357100', expiration: '1' }
  expect(feeText(terms, { rail: 'tron', words, language: 'en' })).toBe(
    'costs at most 8.357 TRX for 83,571 energy; needs 349 bandwidth, and 8.357 TRX in the wallet',
  )
  expect(gasPaidText('6428500', { rail: 'tron', words, language: 'en' })).toBe('cost 6.429 TRX')
  expect(feeText({ fee: '150', weight: '9' }, { rail: 'tron', words, language: 'en' })).toBe(
    'fee 150, weight 9',
  )
  expect(feeText({}, { rail: 'tron', words, language: 'en' })).toBe('')
})

test('what a transaction cost is said in the coin of the network, if a node told it', () => {
  const polygon = { rail: 'polygon', words, language: 'en' } as const
  expect(gasPaidText('1234000000000000', polygon)).toBe('cost 0.001234 POL')
  expect(gasPaidText(null, polygon)).toBeUndefined()
})
