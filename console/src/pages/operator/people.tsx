import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Input, Radios } from '../../ui/field.tsx'
import { Menu } from '../../ui/menu.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { ActDialog, type Acted, ActedNote, hasSecret, ShownOnce } from './acted.tsx'

type Person = Reply<'console.operator.people.list'>['data'][number]
type Role = 'admin' | 'resolver' | 'reader'
export type OperatorAct = { readonly what: 'role' | 'password' | 'factor'; readonly person: Person }
const roles: readonly Role[] = ['admin', 'resolver', 'reader']
const stale = ['console.operator.']

/** The list of operators. With two or more, a change to one is a proposal that another approves. */
export function PeoplePage() {
  const { operator } = useText()
  const { people } = operator
  const environment = useEnvironment()
  const { may, person: self } = useSession()
  const list = useCall('console.operator.people.list', { params: { environment } })
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<OperatorAct>()
  const [acted, setActed] = useState<Acted>()
  const [secret, setSecret] = useState<Acted>()
  const tell = (done: Acted) => {
    setActed(done)
    if (hasSecret(done)) setSecret(done)
  }
  return (
    <>
      <PageHead
        title={people.title}
        about={list.data === undefined ? undefined : list.data.by_two ? people.about_two : people.about_one}
        actions={
          may('operator.rule') && (
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              {people.create}
            </Button>
          )
        }
      />
      {acted !== undefined && (
        <Section tight>
          <ActedNote acted={acted} />
        </Section>
      )}
      <Operators list={list} self={self.id} onDo={may('operator.rule') ? setDoing : undefined} />
      <EndMark />
      {making && <CreateOperator onActed={tell} onClose={() => setMaking(false)} />}
      {doing !== undefined && (
        <OperatorActDialog {...doing} onActed={tell} onClose={() => setDoing(undefined)} />
      )}
      {secret !== undefined && (
        <ShownOnce
          acted={secret}
          alone={{ title: people.shown_title, about: people.shown_about }}
          onDone={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

type ListProps = {
  readonly list: ReturnType<typeof useCall<'console.operator.people.list'>>
  readonly self: string
  readonly onDo: ((doing: OperatorAct) => void) | undefined
}

function Operators({ list, self, onDo }: ListProps) {
  const { operator } = useText()
  const { people } = operator
  return (
    <Table<Person>
      label={people.title}
      rows={list.data?.data}
      query={list}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          head: people.name,
          fold: 'm1',
          cell: ({ id, name }) => (
            <>
              <span className="med">{name}</span>{' '}
              {id === self && <span className="quiet small">({people.you})</span>}
            </>
          ),
        },
        { key: 'email', head: people.email, fold: 'm2', className: 'quiet', cell: ({ email }) => email },
        { key: 'role', head: people.role, fold: 'a1', cell: ({ role }) => people.roles[role] ?? role },
        {
          key: 'factor',
          head: people.factor,
          fold: 'a2',
          labelled: true,
          cell: ({ second_factor }) => (
            <Status state={second_factor ? 'done' : 'attention'}>
              {second_factor ? people.has : people.has_not}
            </Status>
          ),
        },
        {
          key: 'more',
          head: '',
          right: true,
          fold: 'named',
          cell: (person) => onDo !== undefined && <OperatorMenu person={person} onDo={onDo} role />,
        },
      ]}
    />
  )
}

type MenuProps = {
  readonly person: Person
  readonly onDo: (doing: OperatorAct) => void
  /** Whether the role can be changed: the role of a partner's user is set by the partner. */
  readonly role?: boolean
}

/** The actions on a person. */
export function OperatorMenu({ person, onDo, role = false }: MenuProps) {
  const { people } = useText().operator
  return (
    <Menu
      name={person.name}
      className="btn plain sm"
      items={[
        ...(role ? [{ label: people.set_role, onPick: () => onDo({ what: 'role', person }) }] : []),
        { label: people.reset_password, onPick: () => onDo({ what: 'password', person }) },
        {
          label: people.reset_factor,
          onPick: () => onDo({ what: 'factor', person }),
          disabled: !person.second_factor,
        },
      ]}
    />
  )
}

type Done = { readonly onActed: (acted: Acted) => void; readonly onClose: () => void }

function Roles({ role, setRole }: { readonly role: Role; readonly setRole: (role: Role) => void }) {
  const { operator } = useText()
  const { people } = operator
  return (
    <Radios
      label={people.role}
      value={role}
      onValue={(value) => setRole(value as Role)}
      options={roles.map((one) => ({ value: one, label: people.roles[one], hint: people.role_hint[one] }))}
    />
  )
}

function CreateOperator({ onActed, onClose }: Done) {
  const { operator } = useText()
  const { people } = operator
  const environment = useEnvironment()
  const create = useAct('console.operator.people.create', { stale })
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('resolver')
  return (
    <ActDialog
      title={people.create_title}
      verb={people.create_verb}
      busy={people.creating}
      blocked={name.trim() === '' || email.trim() === ''}
      onAct={() =>
        create.mutateAsync({
          params: { environment },
          body: { name: name.trim(), email: email.trim(), role },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field label={people.name}>
        <Input value={name} onValue={setName} maxLength={120} autoComplete="off" />
      </Field>
      <Field label={people.email}>
        <Input value={email} onValue={setEmail} type="email" maxLength={254} autoComplete="off" />
      </Field>
      <Roles role={role} setRole={setRole} />
    </ActDialog>
  )
}

/** The confirmation dialog of each action on a person. */
export function OperatorActDialog({ what, person, onActed, onClose }: OperatorAct & Done) {
  const { operator } = useText()
  const { people } = operator
  const environment = useEnvironment()
  const password = useAct('console.operator.people.reset_password', { stale })
  const factor = useAct('console.operator.people.reset_factor', { stale })
  const params = { environment, user_id: person.id }
  if (what === 'role') return <SetRole person={person} onActed={onActed} onClose={onClose} />
  if (what === 'password')
    return (
      <Confirm
        title={people.password_title(person.name)}
        follows={people.password_follows}
        verb={people.password_verb}
        busy={people.working}
        onConfirm={async () => onActed(await password.mutateAsync({ params }))}
        onClose={onClose}
      />
    )
  return (
    <Confirm
      title={people.factor_title(person.name)}
      follows={people.factor_follows}
      verb={people.factor_verb}
      busy={people.working}
      onConfirm={async () => onActed(await factor.mutateAsync({ params }))}
      onClose={onClose}
    />
  )
}

function SetRole({ person, onActed, onClose }: Done & { readonly person: Person }) {
  const { operator } = useText()
  const { people } = operator
  const environment = useEnvironment()
  const change = useAct('console.operator.people.set_role', { stale })
  const [role, setRole] = useState(person.role as Role)
  return (
    <ActDialog
      title={people.role_title(person.name)}
      verb={people.role_verb}
      busy={people.working}
      blocked={role === person.role}
      onAct={() => change.mutateAsync({ params: { environment, user_id: person.id }, body: { role } })}
      onActed={onActed}
      onClose={onClose}
    >
      <Roles role={role} setRole={setRole} />
    </ActDialog>
  )
}
