import { Link } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct } from '../../api/queries.ts'
import type { Customer } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { isDocument } from '../../format/document.ts'
import type { Texts } from '../../text/en/en.ts'
import { errorText } from '../../text/error-text.ts'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, focusFirstMistake, Input, TextArea } from '../../ui/field.tsx'

type Mistakes = Readonly<Record<string, ReactNode>>

/** Errors about one field are shown at that field, all others below the form. */
function useMistakes() {
  const form = useRef<HTMLFormElement>(null)
  const [{ mistakes, refusals }, set] = useState<{ mistakes: Mistakes; refusals: number }>({
    mistakes: {},
    refusals: 0,
  })
  // Moves the focus once per refusal, never while the person types.
  useEffect(() => {
    if (refusals > 0) focusFirstMistake(form.current)
  }, [refusals])
  const setMistakes = (next: Mistakes) => set((old) => ({ mistakes: next, refusals: old.refusals + 1 }))
  /** Clears the error of a field when the person edits it. */
  const forgive = (name: string) =>
    set((old) => ({
      ...old,
      mistakes: Object.fromEntries(Object.entries(old.mistakes).filter(([field]) => field !== name)),
    }))
  return { form, mistakes, setMistakes, forgive }
}

const STALE = ['console.customers.']

type CreateProps = { readonly onClose: () => void; readonly onMade: (id: string) => void }

export function CreateCustomer({ onClose, onMade }: CreateProps) {
  const { money, ui } = useText()
  const environment = useEnvironment()
  const { form, mistakes, setMistakes, forgive } = useMistakes()
  const form_id = useFormId()
  const [fields, setFields] = useState({ name: '', document: '', email: '', external_id: '', metadata: '' })
  const create = useAct('console.customers.create', { stale: STALE })
  const set = (name: keyof typeof fields) => (value: string) => {
    setFields((old) => ({ ...old, [name]: value }))
    forgive(name)
    if (create.isError) create.reset()
  }

  const wrongDocument = (typed: string): Mistakes => {
    if (typed === '') return { document: money.form.document_missing }
    return isDocument(typed) ? {} : { document: ui.fields.document }
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const metadata = readMetadata(fields.metadata)
    const found: Mistakes = {
      ...(fields.name.trim() === '' ? { name: money.form.name_missing } : {}),
      ...wrongDocument(fields.document.trim()),
      ...('wrong' in metadata ? { metadata: money.form.metadata_wrong(metadata.wrong) } : {}),
    }
    setMistakes(found)
    if (Object.keys(found).length > 0 || 'wrong' in metadata) return
    const body = {
      form_id,
      name: fields.name.trim(),
      document: fields.document.trim(),
      ...given('email', fields.email),
      ...given('external_id', fields.external_id),
      metadata: metadata.texts,
    }
    try {
      const { id } = await create.mutateAsync({ params: { environment }, body })
      onMade(id)
    } catch (error) {
      const done = error instanceof ApiError && error.code === 'already_done' ? error.details?.id : undefined
      if (typeof done === 'string') return onMade(done)
      setMistakes(mistakeOf(ui, error, (id) => <Existing id={id} />))
    }
  }

  return (
    <Dialog title={money.form.create_title} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
        <div className="b">
          <Field label={money.form.name} hint={money.form.name_hint} error={mistakes.name}>
            <Input value={fields.name} onValue={set('name')} autoComplete="off" maxLength={120} />
          </Field>
          <Field label={money.form.document} hint={money.form.document_hint} error={mistakes.document}>
            <Input value={fields.document} onValue={set('document')} autoComplete="off" maxLength={18} />
          </Field>
          <Field label={money.form.email} aside={ui.optional} error={mistakes.email}>
            <Input type="email" value={fields.email} onValue={set('email')} autoComplete="off" />
          </Field>
          <Field
            label={money.form.external_id}
            aside={ui.optional}
            hint={money.form.external_id_hint}
            error={mistakes.external_id}
          >
            <Input
              value={fields.external_id}
              onValue={set('external_id')}
              autoComplete="off"
              maxLength={120}
            />
          </Field>
          <MetadataField value={fields.metadata} onValue={set('metadata')} error={mistakes.metadata} />
          {create.isError && Object.keys(mistakes).length === 0 && <Failure error={create.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={create.isPending && money.form.creating}>
            {money.form.create}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

type EditProps = { readonly customer: Customer; readonly onClose: () => void }

export function EditCustomer({ customer, onClose }: EditProps) {
  const { money, ui } = useText()
  const environment = useEnvironment()
  const { form, mistakes, setMistakes, forgive } = useMistakes()
  const [name, setName] = useState(customer.name)
  const [email, setEmail] = useState(customer.email ?? '')
  const [texts, setTexts] = useState(writeMetadata(customer.metadata))
  const edit = useAct('console.customers.update', { stale: STALE })
  const typing = (field: string, set: (value: string) => void) => (value: string) => {
    set(value)
    forgive(field)
    if (edit.isError) edit.reset()
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const metadata = readMetadata(texts)
    const found: Mistakes = {
      ...(name.trim() === '' ? { name: money.form.name_missing } : {}),
      ...('wrong' in metadata ? { metadata: money.form.metadata_wrong(metadata.wrong) } : {}),
    }
    setMistakes(found)
    if (Object.keys(found).length > 0 || 'wrong' in metadata) return
    const body = {
      name: name.trim(),
      email: email.trim() === '' ? null : email.trim(),
      metadata: metadata.texts,
    }
    try {
      await edit.mutateAsync({ params: { environment, customer_id: customer.id }, body })
      onClose()
    } catch (error) {
      setMistakes(mistakeOf(ui, error))
    }
  }

  return (
    <Dialog title={money.form.edit_title} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
        <div className="b">
          <Field label={money.form.name} error={mistakes.name}>
            <Input value={name} onValue={typing('name', setName)} autoComplete="off" maxLength={120} />
          </Field>
          <Field label={money.form.email} aside={ui.optional} error={mistakes.email}>
            <Input type="email" value={email} onValue={typing('email', setEmail)} autoComplete="off" />
          </Field>
          <MetadataField value={texts} onValue={typing('metadata', setTexts)} error={mistakes.metadata} />
          {edit.isError && Object.keys(mistakes).length === 0 && <Failure error={edit.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={edit.isPending && money.form.saving}>
            {ui.save}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

type MetadataProps = {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error: ReactNode
}

function MetadataField({ value, onValue, error }: MetadataProps) {
  const { money, ui } = useText()
  return (
    <Field label={money.form.metadata} aside={ui.optional} hint={money.form.metadata_hint} error={error}>
      <TextArea value={value} onValue={onValue} mono spellCheck={false} />
    </Field>
  )
}

/** Names the customer who already has this document, with a link. */
function Existing({ id }: { readonly id: string }) {
  const { money } = useText()
  const environment = useEnvironment()
  return (
    <>
      {money.form.exists}{' '}
      <Link to="/$environment/customers/$id" params={{ environment, id }}>
        {money.form.open_existing}
      </Link>
    </>
  )
}

/** The field that the error names and its message; empty when the form has no such field. */
function mistakeOf(ui: Texts['ui'], error: unknown, existing?: (id: string) => ReactNode): Mistakes {
  if (!(error instanceof ApiError) || error.param === undefined) return {}
  const id = error.details?.customer_id
  const [field = ''] = error.param.split('.')
  return { [field]: existing && typeof id === 'string' ? existing(id) : errorText(ui, error) }
}

const given = (name: string, text: string) => (text.trim() === '' ? {} : { [name]: text.trim() })

const PAIR = /^\s*([A-Za-z0-9_.-]{1,40})\s*=(.*)$/

/** Parses metadata lines such as `segment=retail`. */
function readMetadata(text: string): { texts: Record<string, string> } | { wrong: number } {
  const texts: Record<string, string> = {}
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, name, value = ''] = PAIR.exec(line) ?? []
    if (name === undefined) return { wrong: i + 1 }
    texts[name] = value.trim()
  }
  return { texts }
}

const writeMetadata = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
