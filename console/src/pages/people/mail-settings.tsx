import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, FieldGroup } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'

type Settings = Reply<'console.me.notifications.settings'>

const STALE = ['console.me.notifications.settings']

/** Which notifications go out by e-mail, and whether the address is confirmed. */
export function MailSettings() {
  const { notifications } = useText()
  const { mail } = notifications
  const settings = useCall('console.me.notifications.settings', {})
  const change = useAct('console.me.notifications.change', { stale: STALE })
  // The box shows the choice at once, until the answer has come.
  const chosen = change.isPending ? change.variables?.body : undefined
  return (
    <Section title={mail.title}>
      <div className="stack">
        <p className="quiet">{mail.about}</p>
        {settings.isError && (
          <Failure error={settings.error} onAgain={() => void settings.refetch()} reading />
        )}
        {settings.data && (
          <>
            <Address settings={settings.data} />
            {change.isError && <Failure error={change.error} />}
            <FieldGroup label={mail.choose}>
              {settings.data.kinds.map(({ kind, mail: on }) => (
                <Checkbox
                  key={kind}
                  checked={chosen?.kind === kind ? chosen.mail : on}
                  disabled={change.isPending}
                  onChecked={(wanted) => change.mutate({ body: { kind, mail: wanted } })}
                  label={mail.kinds[kind]?.[0] ?? kind}
                  hint={mail.kinds[kind]?.[1]}
                />
              ))}
            </FieldGroup>
          </>
        )}
      </div>
    </Section>
  )
}

function Address({ settings: { email, state, works } }: { readonly settings: Settings }) {
  const { notifications } = useText()
  const { mail } = notifications
  const { confirm: token } = useSearch({ strict: false }) as { confirm?: string }
  const ask = useAct('console.me.notifications.ask', { stale: STALE })
  if (token !== undefined && state !== 'confirmed') return <Confirm token={token} email={email} />
  if (state === 'not_mailable')
    return (
      <Notice>
        <Rich>{mail.not_mailable(email)}</Rich>
      </Notice>
    )
  if (!works) return <Notice kind="calm">{mail.none}</Notice>
  if (state === 'confirmed')
    return (
      <p>
        <Rich>{mail.confirmed(email)}</Rich>
      </p>
    )
  return (
    <>
      {ask.isError && <Failure error={ask.error} />}
      <Notice
        action={
          <Button small busy={ask.isPending && mail.asking} onClick={() => ask.mutate({})}>
            {state === 'asked' ? mail.ask_again : mail.ask}
          </Button>
        }
      >
        <Rich>{mail[state](email)}</Rich>
      </Notice>
    </>
  )
}

/** A click confirms, not the opening of the link: a mail scanner opens links too. */
function Confirm({ token, email }: { readonly token: string; readonly email: string }) {
  const { notifications } = useText()
  const { mail } = notifications
  const navigate = useNavigate()
  const confirm = useAct('console.me.notifications.confirm', {
    stale: STALE,
    onSuccess: () => void navigate({ to: '/me', search: {}, replace: true }),
  })
  return (
    <>
      {confirm.isError && <Failure error={confirm.error} />}
      <Notice
        kind="calm"
        action={
          <Button
            kind="primary"
            busy={confirm.isPending && mail.confirming}
            onClick={() => confirm.mutate({ body: { token } })}
          >
            {mail.confirm}
          </Button>
        }
      >
        <Rich>{mail.confirm_about(email)}</Rich>
      </Notice>
    </>
  )
}
