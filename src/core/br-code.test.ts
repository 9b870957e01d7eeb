import { describe, expect, test } from 'vitest'
import { type BrCode, crc16, makeBrCode, parseBrCode } from './br-code.ts'

/** The examples of the Banco Central: Manual de Padrões para Iniciação do Pix 2.10.0, 2.6.3, 2.7.2 and 2.8.5. */
const KEY = '123e4567-e12b-12d1-a456-426655440000'
const STATIC = `00020126580014br.gov.bcb.pix0136${KEY}5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D`
const URL_ = 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441'
const DYNAMIC = `00020101021226700014br.gov.bcb.pix2548${URL_}5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4`
const COMPOSITE = `00020126580014br.gov.bcb.pix0136${KEY}5204000053039865406100.505802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac12000263042875`
const merchant = { name: 'Fulano de Tal', city: 'BRASILIA' }

const closed = (body: string) => {
  const text = `${body}6304`
  return text + crc16(text).toString(16).toUpperCase().padStart(4, '0')
}

test('the CRC is that of the standard', () => {
  expect(crc16('123456789')).toBe(0x29b1)
  for (const code of [STATIC, DYNAMIC, COMPOSITE])
    expect(crc16(code.slice(0, -4))).toBe(Number.parseInt(code.slice(-4), 16))
})

describe('a code', () => {
  test('is made as the manual shows it', () => {
    expect(makeBrCode({ pix_key: KEY, ...merchant })).toBe(STATIC)
    expect(makeBrCode({ url: URL_, ...merchant })).toBe(DYNAMIC)
  })

  test('of the manual is read', () => {
    expect(parseBrCode(STATIC)).toEqual({ pix_key: KEY, ...merchant })
    expect(parseBrCode(DYNAMIC)).toEqual({ url: URL_, ...merchant })
    expect(parseBrCode(COMPOSITE)).toEqual({ pix_key: KEY, amount: 10_050n, ...merchant })
  })

  test.each([
    ['644a50911e914d8db93eec75d9bffdd7', '6283'],
    ['bolix/v2/cobv/663b44b6c993415e9e09f92c106d4886', '7595'],
  ])('of Efí, as public logs have them, is read', (path, crc) => {
    const url = `qrcodespix.sejaefi.com.br/${path.includes('/') ? path : `v2/${path}`}`
    const account = `0014BR.GOV.BCB.PIX25${url.length}${url}`
    const code = `00020101021226${account.length}${account}5204000053039865802BR5905EFISA6008SAOPAULO62070503***6304${crc}`
    expect(parseBrCode(code)).toEqual({ url, name: 'EFISA', city: 'SAOPAULO' })
  })

  test.each<BrCode>([
    { pix_key: 'ana@example.com', txid: 'A'.repeat(25), amount: 1n, ...merchant },
    { pix_key: '+5511912345678', amount: 999_999_999_999n, ...merchant },
    { url: 'x'.repeat(77), amount: 1050n, ...merchant },
  ])('is read as it was made', (code) => {
    expect(parseBrCode(makeBrCode(code))).toEqual(code)
  })

  test('has names without accents, and not longer than they may be', () => {
    const made = makeBrCode({
      ...{
        pix_key: KEY,
        name: 'Associação dos Padeiros de Ação',
        city: 'São José dos Campos',
      },
    })
    expect(parseBrCode(made)).toMatchObject({
      name: 'Associacao dos Padeiros d',
      city: 'Sao Jose dos Ca',
    })
  })

  test('with a name in UTF-8 is read: lengths count characters, the CRC counts bytes', () => {
    const code = closed(STATIC.slice(0, -8).replace('08BRASILIA', '08BRASÍLIA'))
    expect(parseBrCode(code)?.city).toBe('BRASÍLIA')
  })

  test.each([
    ['a txid that is too long', { pix_key: KEY, txid: 'A'.repeat(26) }],
    ['a txid with other characters', { pix_key: KEY, txid: 'a-b' }],
    ['a key that is too long', { pix_key: 'a'.repeat(78) }],
    ['an amount of nothing', { pix_key: KEY, amount: 0n }],
    ['an amount that is too large', { pix_key: KEY, amount: 10n ** 12n }],
    ['a name of nothing', { pix_key: KEY, name: '日本' }],
  ])('with %s is not made', (_, parts) => {
    expect(() => makeBrCode({ ...merchant, ...parts })).toThrow(RangeError)
  })
})

describe('no code', () => {
  test.each([
    ['nothing', ''],
    ['other text', 'https://example.com'],
    ['a wrong CRC', `${STATIC.slice(0, -4)}1D3E`],
    ['a changed character', STATIC.replace('Fulano', 'Fulana')],
    ['a cut end', STATIC.slice(0, -1)],
    ['more after the CRC', `${STATIC}00`],
    ['another format', closed(STATIC.slice(0, -8).replace('000201', '000202'))],
    ['another arrangement', closed(STATIC.slice(0, -8).replace('br.gov.bcb.pix', 'br.gov.bcb.xip'))],
    ['another currency', closed(STATIC.slice(0, -8).replace('5303986', '5303840'))],
    ['another country', closed(STATIC.slice(0, -8).replace('5802BR', '5802US'))],
    ['an amount that is no number', closed(COMPOSITE.slice(0, -8).replace('100.50', '1e0.50'))],
    ['a field twice', closed(`${STATIC.slice(0, -8)}5802BR`)],
    ['two accounts', closed(`${STATIC.slice(0, -8)}27180014br.gov.bcb.pix`)],
    ['an account without key and address', closed('00020126180014br.gov.bcb.pix53039865802BR5901A6001B')],
    ['more than 512 characters', closed(`${STATIC.slice(0, -8)}${'8099'.padEnd(103, 'x').repeat(4)}`)],
    // The example in Efí's documentation of `PUT /v2/cob/:txid` is no valid code.
    [
      'Efí’s placeholder',
      '00020101021226830014BR.GOV.BCB.PIX2561qrcodespix.sejaefi.com.br/v2/41e0badf811a4ce6ad8a80b306821fce5204000053000065802BR5905EFISA6008SAOPAULO60070503***61040000',
    ],
  ])('is %s', (_, text) => {
    expect(parseBrCode(text)).toBeUndefined()
  })
})
