import { useLanguage } from '../text.tsx'
import { actText } from './act-text.ts'

/** What an action of the audit log says in the person's language. */
export function useActText(): (action: string) => string {
  const { language } = useLanguage()
  return (action) => actText(action, language)
}
