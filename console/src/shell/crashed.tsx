import { useEffect, useState } from 'react'
import { isServed, MissedFile, reloadOnce } from '../reload.ts'
import { useText } from '../text/text.tsx'
import { Button } from '../ui/button.tsx'
import { Failure } from '../ui/failure.tsx'
import { Empty, useTitle } from '../ui/page.tsx'

const loadAnew = () => window.location.reload()

/** Shown in place of a page that failed to render. */
export function Crashed({ error }: { readonly error: unknown }) {
  return error instanceof MissedFile ? <Missed /> : <Broken error={error} />
}

function Broken({ error }: { readonly error: unknown }) {
  const { shell } = useText()
  useTitle(shell.crashed.title)
  return (
    <Empty
      page
      title={shell.crashed.title}
      action={<Button onClick={loadAnew}>{shell.crashed.again}</Button>}
    >
      <p className="quiet">{shell.crashed.text}</p>
      <Failure error={error} reading />
    </Empty>
  )
}

/** The file of the page failed to load. The tab is reloaded only once the service responds: otherwise the tab would be lost. */
function Missed() {
  const { shell, ui } = useText()
  const [looks, setLooks] = useState(0)
  const served = useServed(looks)
  useTitle(shell.missed.title)
  const again = served ? loadAnew : () => setLooks((before) => before + 1)
  return (
    <Empty page title={shell.missed.title} action={<Button onClick={again}>{ui.try_again}</Button>}>
      <p className="quiet" role="status">
        {served ? shell.missed.gone : shell.missed.silent}
      </p>
    </Empty>
  )
}

const POLL_MS = 3_000

/**
 * Polls until the console is served, then reloads it. Returns true if that did not help: the service responds, the page was
 * just reloaded, and the file is still missing.
 */
function useServed(looks: number): boolean {
  const [served, setServed] = useState(false)
  useEffect(() => {
    let silent = looks > 0
    let over = false
    const look = async () => {
      const answered = await isServed()
      if (over) return
      if (!answered) {
        silent = true
        return
      }
      stop()
      if (silent) loadAnew()
      else if (!reloadOnce()) setServed(true)
    }
    const stop = () => {
      over = true
      clearInterval(timer)
      window.removeEventListener('online', look)
    }
    const timer = setInterval(look, POLL_MS)
    window.addEventListener('online', look)
    void look()
    return stop
  }, [looks])
  return served
}
