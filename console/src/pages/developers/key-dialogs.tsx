import { useState } from 'react'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Code } from '../../ui/code.tsx'
import { Details } from '../../ui/details.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Id } from '../../ui/id.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Secret } from '../../ui/secret.tsx'
import { Time } from '../../ui/time.tsx'
import { useAgo, useMoment } from './common.tsx'
import { ChangeKey, CreateKey, type Key, RotateKey, type ShownKey, scopes } from './key-forms.tsx'

export type KeyDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'rotate' | 'revoke' | 'change'; readonly key: Key }
  /** The key value exists only in the state of the page and is gone when the page is left. */
  | { readonly kind: 'shown'; readonly made: ShownKey; readonly rotated: boolean }

export function useKeyDialogs() {
  const [dialog, setDialog] = useState<KeyDialog>()
  const close = () => setDialog(undefined)
  return { dialog, open: setDialog, close }
}

type Props = {
  readonly dialog: KeyDialog | undefined
  readonly open: (dialog: KeyDialog) => void
  readonly close: () => void
}

export function KeyDialogs({ dialog, open, close }: Props) {
  if (dialog === undefined) return null
  switch (dialog.kind) {
    case 'create':
      return <CreateKey onClose={close} onMade={(made) => open({ kind: 'shown', made, rotated: false })} />
    case 'rotate':
      return (
        <RotateKey
          for_key={dialog.key}
          onClose={close}
          onRotated={(made) => open({ kind: 'shown', made, rotated: true })}
        />
      )
    case 'change':
      return <ChangeKey of={dialog.key} onClose={close} />
    case 'revoke':
      return <RevokeKey of={dialog.key} onClose={close} />
    case 'shown':
      return <KeyShown made={dialog.made} rotated={dialog.rotated} onDone={close} />
  }
}

function RevokeKey({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const { keys } = useText().developers
  const environment = useEnvironment()
  const ago = useAgo()
  const revoke = useAct('console.keys.revoke', { stale: ['console.keys.'] })
  const follows = [...keys.revoke_follows]
  if (of.last_used_at !== null && of.last_used_address !== null)
    follows.unshift(keys.revoke_last_use(ago(of.last_used_at), of.last_used_address))
  return (
    <Confirm
      title={keys.revoke_title(of.name)}
      verb={keys.revoke_verb(of.name)}
      busy={keys.revoking}
      follows={follows.map((line) => <Rich key={line}>{line}</Rich>)}
      typed={environment === 'production' ? of.name : undefined}
      onConfirm={() => revoke.mutateAsync({ params: { environment, key_id: of.id } })}
      onClose={onClose}
    />
  )
}

type ShownProps = { readonly made: ShownKey; readonly rotated: boolean; readonly onDone: () => void }

function KeyShown({ made: { key, value }, rotated, onDone }: ShownProps) {
  const { keys } = useText().developers
  const moment = useMoment()
  const { may } = useSession()
  const [old] = key.old_values
  const about = !rotated
    ? keys.shown_about(key.name)
    : old
      ? keys.shown_again(key.name, moment(old.valid_until))
      : keys.shown_only(key.name)
  return (
    <Secret
      title={keys.shown_title}
      value={value}
      about={<Rich>{about}</Rich>}
      stored={keys.stored}
      foot={may('acts.read') || may('keys.write') ? keys.audited : undefined}
      onDone={onDone}
    >
      <Details
        rows={[
          [keys.key_id, <Id key="id" id={key.id} as="full" />],
          [keys.scopes, <Scopes key="scopes" of={key} />],
          [keys.addresses, <Addresses key="addresses" of={key} />],
          [
            keys.ends,
            key.expires_at === null ? keys.never : <Time key="ends" at={key.expires_at} as="day" />,
          ],
        ]}
      />
      <Code title={keys.try_it} as="shell">
        {`curl ${location.origin}/v1/account \\\n  -H "Authorization: Bearer $TRILHO_KEY"`}
      </Code>
    </Secret>
  )
}

export function Scopes({ of }: { readonly of: Pick<Key, 'scopes'> }) {
  const { keys } = useText().developers
  if (of.scopes.length === scopes.length) return keys.all_scopes
  return <span className="mono">{of.scopes.join(', ')}</span>
}

export function Addresses({ of }: { readonly of: Pick<Key, 'ip_allowlist'> }) {
  const { keys } = useText().developers
  if (of.ip_allowlist.length === 0) return keys.any_address
  return <span className="mono">{of.ip_allowlist.join(', ')}</span>
}
