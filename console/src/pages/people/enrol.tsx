import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { signOut, useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { EnrolFields, RecoveryCodes, useEnrolment } from './factor.tsx'
import { Gate } from './gate.tsx'
import { useEnterConsole } from './sign-in.tsx'

/** The first sign-in of an operator: nothing else opens before there is a second factor. */
export function EnrolPage() {
  const { people } = useText()
  const { person } = useSession()
  const navigate = useNavigate()
  const enterConsole = useEnterConsole()
  const [codes, setCodes] = useState<readonly string[]>()
  const enrolment = useEnrolment(setCodes)
  const leave = async () => {
    await signOut()
    await navigate({ to: '/sign-in' })
  }
  return (
    <Gate title={people.me.enrol_title}>
      <form onSubmit={enrolment.submit}>
        <h1>{people.me.enrol_title}</h1>
        <p className="quiet">{people.me.enrol_first(person.name)}</p>
        <div className="stack stack-4">
          <EnrolFields of={enrolment} />
          <Button
            kind="primary"
            type="submit"
            disabled={enrolment.seed === undefined}
            busy={enrolment.busy && people.me.confirming}
          >
            {people.me.confirm}
          </Button>
          <Button kind="plain" onClick={() => void leave()}>
            {people.me.enrol_leave}
          </Button>
        </div>
      </form>
      {codes !== undefined && <RecoveryCodes codes={codes} onDone={() => void enterConsole()} />}
    </Gate>
  )
}
