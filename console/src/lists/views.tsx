import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { Reply } from '../api/client.ts'
import { useAct, useCall } from '../api/queries.ts'
import { useText } from '../text/text.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm, Dialog, DialogFoot } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { Field, Input } from '../ui/field.tsx'
import { type Query, useQueryString } from '../ui/filters.tsx'
import { Icon } from '../ui/icons.tsx'
import { Menu, Popover } from '../ui/menu.tsx'
import './lists.css'

type View = Reply<'console.me.views.list'>['data'][number]

const STALE = ['console.me.views.']

type Props = {
  readonly page: View['page']
  readonly environment: View['environment']
  /** The query parameters that a view holds: the filters and the order. */
  readonly keys: readonly string[]
}

/** The person's saved views of this list, as chips; the present filters can be saved under a name. */
export function Views({ page, environment, keys }: Props) {
  const { lists } = useText()
  const { query } = useQueryString()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'rename' | 'delete'>()
  const all = useCall('console.me.views.list', {})
  const views = (all.data?.data ?? []).filter((one) => one.page === page && one.environment === environment)
  const filters = pickFilters(query, keys)
  const open = views.find((one) => isSame(one.filters, filters))
  const any = Object.keys(filters).length > 0
  if (views.length === 0 && !any) return null
  return (
    <fieldset className="views">
      <legend className="vh">{lists.views.label}</legend>
      {views.map((one) => (
        <button
          key={one.id}
          type="button"
          className={one === open ? 'chip on' : 'chip'}
          aria-pressed={one === open}
          onClick={() => void navigate({ to: '.', search: (one === open ? {} : one.filters) as never })}
        >
          <bdi>{one.name}</bdi>
        </button>
      ))}
      {open !== undefined && (
        <Menu
          name={lists.views.actions(open.name)}
          className="btn plain"
          items={[
            { label: lists.views.rename, onPick: () => setAsked('rename') },
            { label: lists.views.delete, danger: true, onPick: () => setAsked('delete') },
          ]}
        />
      )}
      {any && open === undefined && (
        <Popover
          className="chip"
          label={
            <>
              <Icon name="plus" />
              {lists.views.save}
            </>
          }
        >
          {(close) => <SaveView view={{ page, environment, filters }} onSaved={close} />}
        </Popover>
      )}
      {open !== undefined && asked === 'rename' && <Rename of={open} onClose={() => setAsked(undefined)} />}
      {open !== undefined && asked === 'delete' && <Delete of={open} onClose={() => setAsked(undefined)} />}
    </fieldset>
  )
}

const pickFilters = (query: Query, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = query[key]
      return value === undefined ? [] : [[key, value]]
    }),
  )

const isSame = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, value]) => other[key] === value)

type SaveProps = { readonly view: Omit<View, 'id' | 'name'>; readonly onSaved: () => void }

function SaveView({ view, onSaved }: SaveProps) {
  const { lists } = useText()
  const [name, setName] = useState('')
  const save = useAct('console.me.views.save', { stale: STALE })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    try {
      await save.mutateAsync({ body: { ...view, name: name.trim() } })
      setName('')
      onSaved()
    } catch {
      // Shown below.
    }
  }
  return (
    <form className="pop" onSubmit={submit}>
      <Field label={lists.views.name} hint={lists.views.hint}>
        <Input value={name} onValue={setName} maxLength={60} autoComplete="off" />
      </Field>
      {save.error !== null && <Failure error={save.error} />}
      <Button
        kind="primary"
        type="submit"
        disabled={name.trim() === ''}
        busy={save.isPending && lists.views.saving}
      >
        {lists.views.save}
      </Button>
    </form>
  )
}

type OneProps = { readonly of: View; readonly onClose: () => void }

function Rename({ of, onClose }: OneProps) {
  const { lists, ui } = useText()
  const [name, setName] = useState(of.name)
  const rename = useAct('console.me.views.rename', { stale: STALE })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      await rename.mutateAsync({ params: { view_id: of.id }, body: { name: name.trim() } })
      onClose()
    } catch {
      // Shown below.
    }
  }
  return (
    <Dialog title={lists.views.rename_title} onClose={onClose} size="narrow">
      <form onSubmit={submit}>
        <div className="b">
          <Field label={lists.views.name}>
            <Input value={name} onValue={setName} maxLength={60} autoComplete="off" />
          </Field>
          {rename.error !== null && <Failure error={rename.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={name.trim() === ''}
            busy={rename.isPending && lists.views.renaming}
          >
            {lists.views.rename}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

function Delete({ of, onClose }: OneProps) {
  const { lists } = useText()
  const remove = useAct('console.me.views.delete', { stale: STALE })
  return (
    <Confirm
      title={lists.views.delete_title(of.name)}
      verb={lists.views.delete}
      busy={lists.views.deleting}
      follows={lists.views.delete_follows}
      onConfirm={() => remove.mutateAsync({ params: { view_id: of.id } })}
      onClose={onClose}
    />
  )
}
