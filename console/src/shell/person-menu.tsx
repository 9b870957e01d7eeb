import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { signOut } from '../session.tsx'
import { useText } from '../text/text.tsx'
import { Menu } from '../ui/menu.tsx'

type Props = { readonly label: ReactNode; readonly name?: string; readonly className: string }

/** The person's own menu: settings and sign-out. */
export function PersonMenu({ label, name, className }: Props) {
  const { shell } = useText()
  const navigate = useNavigate()
  const leave = async () => {
    await signOut()
    await navigate({ to: '/sign-in' })
  }
  return (
    <Menu
      className={className}
      label={label}
      {...(name === undefined ? {} : { name })}
      items={[
        { label: shell.settings, icon: 'team', onPick: () => void navigate({ to: '/me' }) },
        'line',
        { label: shell.sign_out, icon: 'out', onPick: () => void leave() },
      ]}
    />
  )
}
