import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ApiError, Trilho } from '../dist/index.js'

const id = 'po_01kc3v4x9zq8rj5m2t7w6y0ahb'
const pdf = Buffer.from([...Buffer.from('%PDF-1.7\n'), 0, 0xff, 0xc3, 0x28])

/** A client of a server that answers each request in its turn. */
async function clientOf(...turns: readonly RequestListener[]) {
  const accepted: (string | undefined)[] = []
  const server = createServer((request, response) => {
    accepted.push(request.headers.accept)
    turns[accepted.length - 1]!(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { trilho: new Trilho({ key: 'svc_test_sk_0123456789', baseUrl }), accepted }
}

const whole: RequestListener = (_, response) =>
  response.writeHead(200, { 'content-type': 'application/pdf', 'x-request-id': 'req_1' }).end(pdf)

test('a file is its bytes, and is asked for again when half of it came', async () => {
  const { trilho, accepted } = await clientOf(
    (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': pdf.length })
      response.write(pdf.subarray(0, 5), () => response.destroy())
    },
    whole,
  )
  const { data, requestId } = await trilho.pix.payouts.receipt(id).withResponse()
  expect(Buffer.from(data)).toEqual(pdf)
  expect(data.constructor).toBe(Uint8Array)
  expect(requestId).toBe('req_1')
  expect(accepted).toEqual(Array(3).fill('application/pdf, application/json'))
})

test('a page of something in between is not taken for the file', async () => {
  const page: RequestListener = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
  const { trilho } = await clientOf(page)
  const error = await trilho.pix.payouts.receipt(id).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 200, code: 'unexpected_response', outcome: 'none' })
})
