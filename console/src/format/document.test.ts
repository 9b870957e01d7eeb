import { expect, test } from 'vitest'
import { makeCnpj, makeCpf, parseDocument } from '../../../src/core/document.ts'
import { isDocument } from './document.ts'

test('a CPF or CNPJ is checked by its check digits, with or without punctuation', () => {
  for (const right of ['529.982.247-25', '52998224725', '11.222.333/0001-81', '11222333000181'])
    expect(isDocument(right), right).toBe(true)
  for (const wrong of ['529.982.247-26', '52998224752', '111.111.111-11', '11.222.333/0001-82', '1', ''])
    expect(isDocument(wrong), wrong).toBe(false)
})

test('the page and the service accept the same documents', () => {
  const cpfs = Array.from({ length: 200 }, (_, i) => makeCpf(`${(i + 1) * 4_999_999}`.padStart(9, '0')))
  const cnpjs = Array.from({ length: 200 }, (_, i) => makeCnpj(`12ABC${i}`.padEnd(12, '7')))
  for (const right of [...cpfs, ...cnpjs]) {
    const last = Number(right.at(-1))
    const other = `${right.slice(0, -1)}${(last + 1) % 10}`
    expect(isDocument(right), right).toBe(parseDocument(right) !== undefined)
    expect(isDocument(other), other).toBe(parseDocument(other) !== undefined)
  }
})
