import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useAct, useCall } from '../../api/queries.ts'
import type { Language } from '../../format/amount.ts'
import { minuteTime } from '../../format/time.ts'
import { renewSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, focusFirstMistake, Input, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHead, Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Enrol, RecoveryCodes } from './factor.tsx'
import { mistakesOf, NewPassword } from './link.tsx'
import { MailSettings } from './mail-settings.tsx'
import './people.css'

type Me = Reply<'console.me.get'>

/** The person's own settings: name, language, second factor, password and sessions. */
export function MePage() {
  const { people } = useText()
  const me = useCall('console.me.get', {})
  return (
    <>
      <PageHead title={people.me.title} bare />
      {me.isError && <Failure error={me.error} onAgain={() => void me.refetch()} reading />}
      {me.data && (
        <>
          <div className="cols two">
            <Profile me={me.data} />
            <Factor me={me.data} />
          </div>
          <div className="cols two">
            <MailSettings />
            <Password />
          </div>
        </>
      )}
      <Sessions />
    </>
  )
}

function Profile({ me }: { readonly me: Me }) {
  const { people, ui } = useText()
  const { language: spoken, speak } = useLanguage()
  const [name, setName] = useState(me.name)
  const [language, setLanguage] = useState<string>(me.language ?? '')
  const change = useAct('console.me.change', { stale: ['console.me.get'] })

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const chosen = language === '' ? null : (language as Language)
    await change.mutateAsync({ body: { name: name.trim(), language: chosen } })
    await renewSession()
    if (chosen !== null && chosen !== spoken) speak(chosen)
  }

  return (
    <Section title={people.me.profile}>
      <form className="stack own-form" onSubmit={(event) => void submit(event).catch(() => undefined)}>
        <Details
          rows={[
            [people.me.email, me.email],
            [people.me.role, people.roles[me.role]],
            [people.me.since, <Time key="since" at={me.created_at} as="day" />],
          ]}
        />
        <Field label={people.me.name}>
          <Input value={name} onValue={setName} autoComplete="name" maxLength={80} required />
        </Field>
        <Field label={people.me.language}>
          <Select
            value={language}
            onValue={setLanguage}
            options={[
              ['', people.me.as_browser],
              ['en', 'English'],
              ['pt-BR', 'Português'],
            ]}
          />
        </Field>
        {change.isError && <Failure error={change.error} />}
        <div className="row gap-3">
          <Button type="submit" busy={change.isPending && people.me.saving}>
            {ui.save}
          </Button>
          <span role="status" className="quiet small">
            {change.isSuccess && people.me.saved}
          </span>
        </div>
      </form>
    </Section>
  )
}

function Factor({ me }: { readonly me: Me }) {
  const { people } = useText()
  const { language } = useLanguage()
  const [shown, setShown] = useState<'enrol' | 'disable'>()
  const [codes, setCodes] = useState<readonly string[]>()
  const renew = useAct('console.me.renew_recovery_codes', { stale: ['console.me.get'] })
  const { factor, keys_shut_until } = me
  const close = () => setShown(undefined)
  return (
    <Section title={people.me.factor}>
      <div className="stack">
        <p className="quiet">{people.me.factor_about}</p>
        {keys_shut_until !== null && (
          <Notice>
            <Rich>{people.me.keys_shut(minuteTime(keys_shut_until, { language }))}</Rich>
          </Notice>
        )}
        {factor === null ? (
          <>
            <Status state="off">{people.me.factor_none}</Status>
            <div>
              <Button kind="primary" icon="lock" onClick={() => setShown('enrol')}>
                {people.me.enrol}
              </Button>
            </div>
          </>
        ) : (
          <>
            <Status state="done">{people.me.factor_on}</Status>
            <Details
              rows={[
                [people.me.factor_since, <Time key="since" at={factor.since} as="detail" />],
                [people.me.codes_left, people.me.codes_left_count(factor.recovery_codes_left)],
              ]}
            />
            {renew.isError && <Failure error={renew.error} />}
            <div className="row wrap">
              <Button
                onClick={() =>
                  void renew.mutateAsync({}).then(
                    ({ recovery_codes }) => setCodes(recovery_codes),
                    () => undefined,
                  )
                }
                busy={renew.isPending && people.me.confirming}
              >
                {people.me.renew_codes}
              </Button>
              <Button kind="plain" onClick={() => setShown('disable')}>
                {people.me.disable}
              </Button>
            </div>
          </>
        )}
      </div>
      {shown === 'enrol' && (
        <Enrol
          onClose={close}
          onCodes={(made) => {
            close()
            setCodes(made)
          }}
        />
      )}
      {shown === 'disable' && <Disable onClose={close} />}
      {codes !== undefined && <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />}
    </Section>
  )
}

function Disable({ onClose }: { readonly onClose: () => void }) {
  const { people } = useText()
  const disable = useAct('console.me.disable_factor', { stale: ['console.me.'] })
  return (
    <Confirm
      title={people.me.disable_title}
      follows={people.me.disable_follows}
      verb={people.me.disable}
      busy={people.me.disabling}
      onConfirm={async () => {
        await disable.mutateAsync({})
        await renewSession()
      }}
      onClose={onClose}
    />
  )
}

function Password() {
  const { people } = useText()
  const form = useRef<HTMLFormElement>(null)
  const [before, setBefore] = useState('')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [wrong, setWrong] = useState<{ before?: string; password?: string; again?: string }>({})
  const [error, setError] = useState<unknown>()
  const change = useAct('console.me.change_password', { stale: ['console.me.sessions.'] })

  useEffect(() => {
    if (Object.keys(wrong).length > 0) focusFirstMistake(form.current)
  }, [wrong])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    change.reset()
    setError(undefined)
    const mistakes = mistakesOf(password, again, people.link)
    setWrong(mistakes)
    if (Object.keys(mistakes).length > 0) return
    try {
      await change.mutateAsync({ body: { password: before, new_password: password } })
      for (const empty of [setBefore, setPassword, setAgain]) empty('')
    } catch (failed) {
      if (failed instanceof ApiError && failed.param === 'password') setWrong({ before: people.me.not_yours })
      else if (failed instanceof ApiError && failed.param === 'new_password')
        setWrong({ password: people.link.guessed })
      else setError(failed)
    }
  }

  return (
    <Section title={people.me.password} about={people.me.password_about}>
      <form className="stack own-form" onSubmit={submit} ref={form} noValidate>
        <Field label={people.me.old_password} error={wrong.before}>
          <Input
            value={before}
            onValue={setBefore}
            type="password"
            autoComplete="current-password"
            required
          />
        </Field>
        <NewPassword {...{ password, setPassword, again, setAgain, wrong }} />
        {error !== undefined && <Failure error={error} />}
        <div className="row gap-3">
          <Button type="submit" busy={change.isPending && people.me.changing}>
            {people.me.change_password}
          </Button>
          <span role="status" className="quiet small">
            {change.isSuccess && people.me.changed}
          </span>
        </div>
      </form>
    </Section>
  )
}

type Row = Reply<'console.me.sessions.list'>['data'][number]

function Sessions() {
  const { people } = useText()
  const sessions = useCall('console.me.sessions.list', {})
  const end = useAct('console.me.sessions.end', { stale: ['console.me.sessions.'] })
  const end_others = useAct('console.me.sessions.end_others', { stale: ['console.me.sessions.'] })
  const others = sessions.data?.data.some(({ current }) => !current) ?? false
  const error = end.error ?? end_others.error
  return (
    <Section
      title={people.me.sessions}
      about={people.me.sessions_about}
      actions={
        others && (
          <Button small onClick={() => end_others.mutate({})}>
            {people.me.end_others}
          </Button>
        )
      }
    >
      {error !== null && <Failure error={error} />}
      <Table<Row>
        label={people.me.sessions}
        look="plain"
        rows={sessions.data?.data}
        keyOf={({ id }) => id}
        query={sessions}
        columns={[
          {
            key: 'from',
            head: people.me.from,
            fold: 'm1',
            cell: ({ address }) => <span className="mono">{address ?? people.me.terminal}</span>,
          },
          {
            key: 'with',
            head: people.me.with,
            fold: 'm2',
            cell: ({ agent }) => <span className="quiet">{agent === null ? '' : agentName(agent)}</span>,
          },
          {
            key: 'begun',
            head: people.me.begun,
            fold: 'named',
            cell: ({ created_at }) => <Time at={created_at} />,
          },
          { key: 'used', head: people.me.used, fold: 'a2', cell: ({ used_at }) => <Time at={used_at} /> },
          {
            key: 'end',
            head: '',
            right: true,
            fold: 'a1',
            cell: ({ id, current }) =>
              current ? (
                <span className="tag">{people.me.this_one}</span>
              ) : (
                <Button small onClick={() => end.mutate({ params: { session_id: id } })}>
                  {people.me.end}
                </Button>
              ),
          },
        ]}
      />
    </Section>
  )
}

const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const
const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' }
const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'] as const

/** Browser and system from the user agent; the whole text if neither is recognised. */
function agentName(agent: string): string {
  const browser = browsers.find((name) => agent.includes(`${name}/`))
  const system = systems.find((name) => agent.includes(name))
  if (browser === undefined) return agent.slice(0, 40)
  return [names[browser] ?? browser, system].filter(Boolean).join(', ')
}
