import { Type as T } from 'typebox'
import { scopes } from '../../core/actor.ts'
import { Id, Timestamp } from '../../http/schema.ts'

const MaybeTime = (description: string) => T.Union([Timestamp, T.Null()], { description, examples: [null] })

/** A key as events and lists show it: never its value. */
export const ApiKeyObject = T.Object(
  {
    id: Id('key'),
    partner_id: Id('partner'),
    environment: T.Enum(['production', 'sandbox'], { examples: ['sandbox'] }),
    name: T.String({ examples: ['Server'] }),
    last_four: T.String({ description: 'The end of its value', examples: ['aB3x'] }),
    scopes: T.Array(T.Enum(scopes), { examples: [['read', 'payouts']] }),
    ip_allowlist: T.Array(T.String(), { description: 'Empty: any address', examples: [[]] }),
    expires_at: MaybeTime('When it stops working'),
    revoked_at: MaybeTime('When it was revoked'),
    created_at: Timestamp,
    last_used_at: MaybeTime('When it was used last'),
    last_used_address: T.Union([T.String(), T.Null()], { description: 'From where', examples: [null] }),
  },
  { $id: 'ApiKey' },
)
