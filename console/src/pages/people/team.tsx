import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { minuteTime } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { errorText } from '../../text/error-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, Input, Radios } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHead, Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Secret } from '../../ui/secret.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './people.css'

type Team = Reply<'console.team.get'>
type Colleague = Team['people'][number]
type Role = Colleague['role']
const roles: readonly Role[] = ['owner', 'developer', 'finance', 'viewer']

/** A newly created link, shown only once. */
type Made = { readonly name: string; readonly link: string; readonly expires_at: string }
type Shown =
  | { readonly what: 'invite' }
  | { readonly what: 'role' | 'password' | 'factor' | 'remove'; readonly who: Colleague }

const teams = { stale: ['console.team.', 'console.acts.'] } as const

export function TeamPage() {
  const { people } = useText()
  const environment = useEnvironment()
  const { may } = useSession()
  const team = useCall('console.team.get', {})
  const [shown, setShown] = useState<Shown>()
  const [made, setMade] = useState<Made>()
  const count = team.data?.people.length
  return (
    <>
      <PageHead
        title={people.team.title}
        about={count === undefined ? undefined : people.team.about(count)}
        actions={
          <>
            {may('acts.read') && (
              <Link className="btn" to="/$environment/team/audit" params={{ environment }}>
                {people.team.audit}
              </Link>
            )}
            {may('people.write') && (
              <Button kind="primary" icon="plus" onClick={() => setShown({ what: 'invite' })}>
                {people.team.invite}
              </Button>
            )}
          </>
        }
      />
      <PeopleTable team={team} onPick={setShown} />
      {team.data && <Invitations invitations={team.data.invitations} />}
      {shown && <Ask shown={shown} onClose={() => setShown(undefined)} onMade={setMade} />}
      {made && <ShownLink made={made} onDone={() => setMade(undefined)} />}
    </>
  )
}

type TableProps = {
  readonly team: ReturnType<typeof useCall<'console.team.get'>>
  readonly onPick: (shown: Shown) => void
}

function PeopleTable({ team, onPick }: TableProps) {
  const { people, ui } = useText()
  const { person, may } = useSession()
  return (
    <Table<Colleague>
      label={people.team.label}
      rows={team.data?.people}
      keyOf={({ id }) => id}
      query={team}
      keys
      columns={[
        {
          key: 'name',
          head: people.team.name,
          fold: 'm1',
          cell: ({ id, name }) => (
            <span className="row">
              <span className="med">{name}</span>
              {id === person.id && <span className="tag">{people.team.you}</span>}
            </span>
          ),
        },
        {
          key: 'email',
          head: people.team.email,
          fold: 'm2',
          cell: ({ email }) => <span className="quiet">{email}</span>,
        },
        { key: 'role', head: people.team.role, fold: 'a2', cell: ({ role }) => people.roles[role] },
        {
          key: 'factor',
          head: people.team.factor,
          fold: 'named',
          cell: ({ factor }) => <Status state={factor ? 'done' : 'off'}>{factor ? ui.yes : ui.no}</Status>,
        },
        {
          key: 'seen',
          head: people.team.seen,
          fold: 'named',
          cell: ({ last_seen_at }) => (last_seen_at === null ? ui.never : <Time at={last_seen_at} />),
        },
        {
          key: 'do',
          head: '',
          right: true,
          fold: 'a1',
          cell: (who) =>
            may('people.write') && <Actions who={who} own={who.id === person.id} onPick={onPick} />,
        },
      ]}
    />
  )
}

type ActionsProps = {
  readonly who: Colleague
  readonly own: boolean
  readonly onPick: (shown: Shown) => void
}

/** Actions on a team member. One's own password and second factor are changed on the personal page. */
function Actions({ who, own, onPick }: ActionsProps) {
  const { people } = useText()
  const pick = (what: Exclude<Shown['what'], 'invite'>) => () => onPick({ what, who })
  return (
    <Menu
      name={people.team.actions(who.name)}
      className="btn plain sm"
      items={[
        { label: people.team.change_role, onPick: pick('role') },
        { label: people.team.reset_password, onPick: pick('password'), disabled: own },
        { label: people.team.reset_factor, onPick: pick('factor'), disabled: own || !who.factor },
        'line',
        { label: people.team.remove, danger: true, onPick: pick('remove') },
      ]}
    />
  )
}

function Invitations({ invitations }: { readonly invitations: Team['invitations'] }) {
  const { people } = useText()
  const { may } = useSession()
  const withdraw = useAct('console.invitations.withdraw', teams)
  if (invitations.length === 0) return null
  return (
    <Section title={people.team.invitations}>
      {withdraw.isError && <Failure error={withdraw.error} />}
      <Table<Team['invitations'][number]>
        label={people.team.invitations}
        look="plain"
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'name',
            head: people.team.name,
            fold: 'm1',
            cell: ({ name }) => <span className="med">{name}</span>,
          },
          {
            key: 'email',
            head: people.team.email,
            fold: 'm2',
            cell: ({ email }) => <span className="quiet">{email}</span>,
          },
          { key: 'role', head: people.team.role, fold: 'a2', cell: ({ role }) => people.roles[role] },
          { key: 'by', head: people.team.invited_by, fold: 'named', cell: ({ made_by }) => made_by },
          {
            key: 'until',
            head: people.team.until,
            fold: 'named',
            cell: ({ expires_at }) => <Time at={expires_at} />,
          },
          {
            key: 'do',
            head: '',
            right: true,
            fold: 'a1',
            cell: ({ id }) =>
              may('people.write') && (
                <Button small onClick={() => withdraw.mutate({ params: { link_id: id } })}>
                  {people.team.withdraw}
                </Button>
              ),
          },
        ]}
      />
    </Section>
  )
}

type AskProps = {
  readonly shown: Shown
  readonly onClose: () => void
  readonly onMade: (made: Made) => void
}

function Ask({ shown, onClose, onMade }: AskProps) {
  switch (shown.what) {
    case 'invite':
      return <Invite onClose={onClose} onMade={onMade} />
    case 'role':
      return <ChangeRole who={shown.who} onClose={onClose} />
    case 'password':
      return <ResetPassword who={shown.who} onClose={onClose} onMade={onMade} />
    case 'factor':
      return <ResetFactor who={shown.who} onClose={onClose} />
    case 'remove':
      return <Remove who={shown.who} onClose={onClose} />
  }
}

function RoleRadios({ role, onRole }: { readonly role: Role; readonly onRole: (role: Role) => void }) {
  const { people } = useText()
  return (
    <Radios
      label={people.team.role}
      value={role}
      onValue={(value) => onRole(value as Role)}
      options={roles.map((value) => ({ value, label: people.roles[value], hint: people.role_hints[value] }))}
    />
  )
}

function Invite({ onClose, onMade }: Omit<AskProps, 'shown'>) {
  const { people, ui } = useText()
  const form_id = useFormId()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const create = useAct('console.invitations.create', teams)
  const wrong =
    create.error instanceof ApiError && create.error.param === 'email'
      ? errorText(ui, create.error)
      : undefined

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const body = { form_id, name: name.trim(), email: email.trim(), role }
    const { link, expires_at } = await create.mutateAsync({ body })
    onMade({ name: body.name, link, expires_at })
    onClose()
  }

  return (
    <Dialog title={people.team.invite_title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event).catch(() => undefined)}>
        <div className="b stack">
          <p className="quiet">{people.team.invite_about}</p>
          <Field label={people.team.name}>
            <Input value={name} onValue={setName} autoComplete="off" maxLength={80} required autoFocus />
          </Field>
          <Field label={people.team.email} error={wrong}>
            <Input value={email} onValue={setEmail} type="email" autoComplete="off" required />
          </Field>
          <RoleRadios role={role} onRole={setRole} />
          {create.isError && wrong === undefined && <Failure error={create.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={create.isPending && people.team.inviting}>
            {people.team.make_link}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

type WhoProps = { readonly who: Colleague; readonly onClose: () => void }

function ChangeRole({ who, onClose }: WhoProps) {
  const { people, ui } = useText()
  const [role, setRole] = useState<Role>(who.role)
  const change = useAct('console.team.change_role', teams)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await change.mutateAsync({ params: { user_id: who.id }, body: { role } })
    onClose()
  }
  return (
    <Dialog title={people.team.role_title(who.name)} onClose={onClose}>
      <form onSubmit={(event) => void submit(event).catch(() => undefined)}>
        <div className="b stack">
          <RoleRadios role={role} onRole={setRole} />
          {change.isError && <Failure error={change.error} />}
        </div>
        <DialogFoot why={people.team.role_follows}>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={role === who.role}
            busy={change.isPending && people.team.changing}
          >
            {people.team.change}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

function ResetPassword({ who, onClose, onMade }: WhoProps & Pick<AskProps, 'onMade'>) {
  const { people } = useText()
  const form_id = useFormId()
  const reset = useAct('console.resets.create', teams)
  return (
    <Confirm
      title={people.team.reset_title(who.name)}
      follows={people.team.reset_follows}
      verb={people.team.make_link}
      busy={people.team.inviting}
      onConfirm={async () => {
        const { link, expires_at } = await reset.mutateAsync({ body: { form_id, user_id: who.id } })
        onMade({ name: who.name, link, expires_at })
      }}
      onClose={onClose}
    />
  )
}

function ResetFactor({ who, onClose }: WhoProps) {
  const { people } = useText()
  const reset = useAct('console.team.reset_factor', teams)
  return (
    <Confirm
      title={people.team.factor_title(who.name)}
      follows={people.team.factor_follows}
      verb={people.team.reset_factor}
      busy={people.team.resetting}
      onConfirm={() => reset.mutateAsync({ params: { user_id: who.id } })}
      onClose={onClose}
    />
  )
}

function Remove({ who, onClose }: WhoProps) {
  const { people } = useText()
  const remove = useAct('console.team.remove', teams)
  return (
    <Confirm
      title={people.team.remove_title(who.name)}
      follows={people.team.remove_follows}
      verb={people.team.remove_verb(who.name)}
      busy={people.team.removing}
      typed={who.name}
      onConfirm={() => remove.mutateAsync({ params: { user_id: who.id } })}
      onClose={onClose}
    />
  )
}

function ShownLink({ made, onDone }: { readonly made: Made; readonly onDone: () => void }) {
  const { people } = useText()
  const { language } = useLanguage()
  return (
    <Secret
      title={people.team.link_title(made.name)}
      value={made.link}
      about={<Rich>{people.team.invite_link_about}</Rich>}
      stored={people.team.link_stored}
      onDone={onDone}
    >
      <p className="quiet small">{people.team.link_until(minuteTime(made.expires_at, { language }))}</p>
    </Secret>
  )
}
