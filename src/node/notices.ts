import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Refusal } from '../core/errors.ts'
import { hurryReceived } from '../money/charges/finder.ts'
import { askAboutNoticed, hurryNoticed } from '../money/pix/notices.ts'
import type { World } from '../world.ts'

/**
 * Where a Pix provider posts notices. The token in the path is the only proof of the sender, so a notice is a hint: the payouts that it
 * names are asked about now, and nothing else follows from it. Another token gets the answer of a path that does not exist, before the
 * body is read.
 */
type NoticeOptions = {
  /** Undefined: no provider is configured. */
  readonly token: string | undefined
  readonly world: World<'production'>
  /** Wakes workers that have backed off. */
  readonly wakeWorkers: () => void
  /** Requests have no log of their own: the server runs without Fastify's. */
  readonly log: Pick<Logger, 'warn'>
}

/**
 * How many notices at once lead to questions to the provider. A flood of notices must not take the connections from payouts: the payments
 * of further notices are found by the next read of the provider's list.
 */
const ASKING_MOST = 8

export function registerNotices(
  app: FastifyInstance,
  { token, world, wakeWorkers, log }: NoticeOptions,
): void {
  const { readNotice } = world.pix
  if (token === undefined || !readNotice) return
  const isToken = sameText(token)
  let asking = 0
  app.post<{ Params: { token: string } }>(
    '/rails/pix/efi/:token',
    {
      async onRequest(request) {
        if (!isToken(request.params.token)) throw new Refusal('route_not_found')
      },
    },
    async (request, reply) => {
      const noticed = readNotice(request.body)
      const hurried = await hurryNoticed(world.db, noticed)
      await askAboutNoticed(world, noticed)
      if (hurried > 0) wakeWorkers()
      // The provider waits for the answer to its notice, and the payments are read meanwhile.
      if (asking < ASKING_MOST) {
        asking++
        void hurryReceived(world, log, noticed)
          .catch((error: unknown) =>
            log.warn(
              { err: error },
              'charges: payments of a notice were not read; the next read of the provider’s list finds them',
            ),
          )
          .finally(() => asking--)
      }
      return reply.type('application/json').send('{}')
    },
  )
}

/** Compares digests, in a time that does not depend on the text. */
function sameText(expected: string): (text: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const known = digest(expected)
  return (text) => timingSafeEqual(digest(text), known)
}
