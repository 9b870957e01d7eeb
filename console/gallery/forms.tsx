import { useState } from 'react'
import { ApiError, Unreachable } from '../src/api/errors.ts'
import { Button } from '../src/ui/button.tsx'
import { Confirm, Dialog, DialogFoot } from '../src/ui/dialog.tsx'
import { Failure } from '../src/ui/failure.tsx'
import { Checkbox, Field, FieldGroup, Input, Radios, Select, TextArea } from '../src/ui/field.tsx'
import { Section } from '../src/ui/page.tsx'
import { Secret } from '../src/ui/secret.tsx'
import { Segments } from '../src/ui/segments.tsx'

const refused = new ApiError({
  code: 'rate_limit_exceeded',
  message: 'Too many.',
  status: 429,
  request_id: 'req_01m7e0svhcehj34h3txt8xzbnr',
  retry_after: 30,
})

export function Forms() {
  const [shown, setShown] = useState<'dialog' | 'confirm' | 'secret'>()
  const close = () => setShown(undefined)
  return (
    <>
      <Section title="Buttons">
        <div className="row wrap gap-3">
          <Button kind="primary" icon="plus" onClick={() => setShown('dialog')}>
            Create key
          </Button>
          <Button onClick={() => setShown('secret')}>Show it</Button>
          <Button kind="danger" onClick={() => setShown('confirm')}>
            Revoke…
          </Button>
          <Button kind="plain">Plain</Button>
          <Button small>Small</Button>
          <Button kind="primary" busy="Creating…">
            Create this key
          </Button>
          <Button disabled="Your own proposal: another operator must approve it">Approve</Button>
        </div>
      </Section>
      <Section title="Fields">
        <Fields />
      </Section>
      <Section title="Failures">
        <div className="stack">
          <Failure error={refused} onAgain={() => {}} />
          <Failure error={new Unreachable('POST', undefined)} />
          <Failure error={new Unreachable('GET', undefined)} reading onAgain={() => {}} />
        </div>
      </Section>
      {shown === 'dialog' && <Form onClose={close} />}
      {shown === 'confirm' && (
        <Confirm
          title="Revoke checkout?"
          follows={['Calls with this key are refused within a second.', 'It cannot be undone.']}
          verb="Revoke checkout"
          busy="Revoking…"
          typed="checkout"
          onConfirm={async () => {
            throw new Unreachable('POST', undefined)
          }}
          onClose={close}
        />
      )}
      {shown === 'secret' && (
        <Secret
          title="Copy the key now"
          value="svc_test_sk_4mQ9vT2xLw7RkZ81cYpH3nBdSa6UeJfG"
          about="This is the only time it is shown."
          foot="Written to the audit log"
          onDone={close}
        />
      )}
    </>
  )
}

function Form({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Create a production key" onClose={onClose}>
      <form onSubmit={(event) => event.preventDefault()}>
        <div className="b">
          <Fields />
        </div>
        <DialogFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Continue
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}

function Fields() {
  const [name, setName] = useState('payroll')
  const [ranges, setRanges] = useState('203.0.113.0/24\n198.51.100.7/24')
  const [role, setRole] = useState('viewer')
  const [scopes, setScopes] = useState<readonly string[]>(['read'])
  const [what, setWhat] = useState('paid')
  const [ends, setEnds] = useState('never')
  const pick = (scope: string) => (on: boolean) =>
    setScopes(on ? [...scopes, scope] : scopes.filter((one) => one !== scope))
  return (
    <div className="stack-4">
      <Field
        label="Name"
        hint="The program that uses the key. Only your team sees this."
        aside={<a href="#x">Forgot your password?</a>}
      >
        <Input value={name} onValue={setName} />
      </Field>
      <FieldGroup label="Scopes">
        <div className="choices">
          {['read', 'customers', 'payouts'].map((scope) => (
            <Checkbox
              key={scope}
              mono
              label={scope}
              hint="What it may"
              checked={scopes.includes(scope)}
              onChecked={pick(scope)}
            />
          ))}
        </div>
      </FieldGroup>
      <Field
        label="Allowed IP addresses"
        hint="One address or CIDR range per line."
        error={
          <>
            Line 2: <span className="mono">198.51.100.7/24</span> has host bits set. For the range write{' '}
            <button type="button" className="link mono">
              198.51.100.0/24
            </button>
            .
          </>
        }
      >
        <TextArea mono value={ranges} onValue={setRanges} />
      </Field>
      <Field label="Role">
        <Select
          value={role}
          onValue={setRole}
          options={[
            ['owner', 'Owner'],
            ['viewer', 'Viewer'],
          ]}
        />
      </Field>
      <Radios
        label="What happened"
        value={what}
        onValue={setWhat}
        options={[
          { value: 'paid', label: 'It was paid', hint: 'Needs the end-to-end id.' },
          { value: 'never', label: 'It was not paid, and can never be paid' },
        ]}
      />
      <div>
        <Segments
          label="Expires"
          value={ends}
          onValue={setEnds}
          options={[
            { value: 'never', label: 'Never' },
            { value: '90', label: 'In 90 days' },
          ]}
        />
      </div>
    </div>
  )
}
