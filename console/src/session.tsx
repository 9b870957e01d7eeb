import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { call, keepCsrf, type Reply, setRefusalHandlers } from './api/client.ts'
import { ApiError, PersonChanged } from './api/errors.ts'
import { queryClient } from './api/queries.ts'
import { ProofDialog } from './proof-dialog.tsx'
import { SignInDialog } from './sign-in-dialog.tsx'
import { useLanguage } from './text/text.tsx'

type Session = Reply<'console.session.get'>
export type SignedIn = Extract<Session, { signed_in: true }>

/** The session this page was opened with. It stays while the person signs in again, so that a half-filled form is kept. */
let own: SignedIn | undefined

async function askSession(): Promise<Session> {
  const session = await call('console.session.get')
  if (session.signed_in && own !== undefined && own.person.id !== session.person.id) throw new PersonChanged()
  keepCsrf('csrf_token' in session ? session.csrf_token : undefined)
  if (session.signed_in) own = session
  return session
}

const sessionQuery = {
  queryKey: ['console.session.get', {}],
  queryFn: askSession,
  staleTime: 60_000,
} as const

export const currentSession = (): Promise<Session> => queryClient.ensureQueryData(sessionQuery)

/** Operators do nothing before they have a second factor: their first sign-in leads to the enrolment. */
export const needsFactor = (session: Session): boolean =>
  session.signed_in && session.partner === null && !session.factor

const sessionNow = (): Promise<Session> => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })

/** Reads the session again, after a sign-in, sign-out, proof or change of the person's own data. */
export const renewSession = (): Promise<Session> => {
  own = undefined
  return sessionNow()
}

/** The signed-in person. Use only below a layout that loaded the session. */
export function useSession(): SignedIn & { readonly may: (permit: string) => boolean } {
  const { data } = useQuery(sessionQuery)
  const session = data?.signed_in ? data : (own ?? nobody)
  return useMemo(() => ({ ...session, may: (permit: string) => session.permits.includes(permit) }), [session])
}

/** The session before sign-in: no permits. */
const nobody: SignedIn = {
  signed_in: true,
  csrf_token: '',
  person: { id: '', email: '', name: '', role: 'viewer', language: null },
  partner: null,
  permits: [],
  factor: false,
  proved_until: null,
}

/** An open question to the person: to give a proof, or to sign in again. */
type Asked = {
  readonly needed: ApiError
  readonly given: () => void
  readonly refused: () => void
}

/** Opens the question; concurrent calls share one question. */
function useAsking(after: () => Promise<unknown>) {
  const [asked, setAsked] = useState<Asked>()
  const asking = useRef<Promise<void>>(undefined)
  const ask = useCallback(
    (needed: ApiError): Promise<void> => {
      asking.current ??= new Promise<void>((resolve, reject) => {
        setAsked({
          needed,
          given: () => void after().then(() => resolve(), reject),
          refused: () => reject(needed),
        })
      }).finally(() => {
        asking.current = undefined
        setAsked(undefined)
      })
      return asking.current
    },
    [after],
  )
  return { asked, ask }
}

/** Whether a form is open, whose input must survive the end of the session. */
const isFormOpen = () =>
  document.querySelector('dialog[open] form') !== null ||
  // Forms of closed filters are on the page too, but hidden.
  [...document.querySelectorAll('main form')].some((form) => form.checkVisibility())

/** Handles the refusals that the person can resolve: asks for a proof, or to sign in again. */
export function SessionDialogs({ children }: { readonly children: ReactNode }) {
  const router = useRouter()
  const queries = useQueryClient()
  // A proof and a sign-in both change the session token, and with it the CSRF token.
  const proof = useAsking(renewSession)
  const entry = useAsking(
    useCallback(() => sessionNow().then(() => void queries.invalidateQueries()), [queries]),
  )
  const prove = proof.ask
  const enter = entry.ask

  useEffect(() => {
    /** The person declined to sign in: background reads do not ask again. */
    let refused = false
    const leave = (acting: boolean) => {
      queries.setQueryData(sessionQuery.queryKey, { signed_in: false })
      own = undefined
      const { pathname, href, search } = router.state.location
      const there = pathname === '/sign-in'
      if (there && !acting) return
      const next = there ? (search as { next?: string }).next : href
      const ended = acting ? 'acting' : 'reading'
      void router.navigate({ to: '/sign-in', search: { next, ended }, replace: there })
    }
    const signIn = async (needed: ApiError, acting: boolean) => {
      if ((await sessionNow()).signed_in) return
      if (own === undefined || !(acting || isFormOpen())) {
        leave(acting)
        throw needed
      }
      if (refused && !acting) throw needed
      refused = true
      await enter(needed)
      refused = false
    }
    setRefusalHandlers({ prove, signIn })
    return () => setRefusalHandlers(undefined)
  }, [router, queries, prove, enter])

  useOwnLanguage()

  return (
    <>
      {children}
      {entry.asked !== undefined && <SignInDialog email={own?.person.email ?? ''} {...entry.asked} />}
      {proof.asked !== undefined && <ProofDialog {...proof.asked} />}
    </>
  )
}

/** The language in the person's settings overrides that of the browser. */
function useOwnLanguage() {
  const { data } = useQuery({ ...sessionQuery, enabled: false })
  const { language, speak } = useLanguage()
  const own = data?.signed_in ? data.person.language : null
  const applied = useRef<string>(undefined)
  useEffect(() => {
    if (own === null || applied.current === own) return
    applied.current = own
    if (own !== language) speak(own)
  }, [own, language, speak])
}

/** Ends the session and clears all cached responses. */
export async function signOut(): Promise<void> {
  await call('console.session.sign_out').catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'not_signed_in')) throw error
  })
  keepCsrf(undefined)
  own = undefined
  queryClient.clear()
}
