import { type FormEvent, useRef, useState } from 'react'
import { useAct, useCall } from '../../api/queries.ts'
import type { Price } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { sourceText } from '../../format/source.ts'
import { ageText } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Field, focusFirstMistake, Input, Select } from '../../ui/field.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Status } from '../../ui/status.tsx'
import { useNow } from '../../ui/time.tsx'
import { priceText } from './price.ts'
import { usePollingWhileVisible } from './time-left.tsx'

/** The current price of each pair, and its age. */
export function PricesNow() {
  const { conversions } = useText()
  const environment = useEnvironment()
  const { may } = useSession()
  const [setting, setSetting] = useState(false)
  const prices = useCall('console.prices.list', { params: { environment } }, { live: ['price'] })
  usePollingWhileVisible(prices.refetch, true)
  const known = prices.data?.data
  return (
    <section
      className="prices"
      aria-label={conversions.prices.title}
      aria-busy={prices.isPending || undefined}
    >
      {prices.isError && known === undefined && <Failure error={prices.error} reading />}
      {known?.length === 0 && (
        <p className="quiet small">
          <Rich>{conversions.prices.none}</Rich>
        </p>
      )}
      {known?.map((price) => (
        <Pair key={price.pair} price={price} answered_at={prices.dataUpdatedAt} />
      ))}
      {environment === 'sandbox' && may('sandbox.act') && (
        <Button small onClick={() => setSetting(true)}>
          {conversions.prices.set}
        </Button>
      )}
      {setting && <SetPrice known={known ?? []} onClose={() => setSetting(false)} />}
    </section>
  )
}

function Pair({ price, answered_at }: { readonly price: Price; readonly answered_at: number }) {
  const { conversions, ui } = useText()
  const { language } = useLanguage()
  const { pair, source, fresh, age_ms } = price
  const age = age_ms + Math.max(0, useNow().getTime() - answered_at)
  const from = sourceText(ui.sources, source)
  const spread = price.buy_price !== price.sell_price
  return (
    <div className="pair">
      <span className="quiet small">{pair}</span>
      <b className="figure">{priceText(price.price, language)}</b>
      {spread && (
        <span className="quiet small">
          {conversions.prices.buys} {priceText(price.buy_price, language)}, {conversions.prices.sells}{' '}
          {priceText(price.sell_price, language)}
        </span>
      )}
      {fresh ? (
        <span className="faint small">{conversions.prices.age(ageText(age), from)}</span>
      ) : (
        <Status state="attention">{conversions.prices.too_old}</Status>
      )}
    </div>
  )
}

const PRICE = /^(?!0+(\.0+)?$)\d{1,8}(\.\d{1,8})?$/
const fed = ['USDT/BRL', 'BTC/USDT'] as const
type Fed = (typeof fed)[number]

function SetPrice({ known, onClose }: { readonly known: readonly Price[]; readonly onClose: () => void }) {
  const { conversions, ui } = useText()
  const words = conversions.prices
  const environment = useEnvironment()
  const form = useRef<HTMLFormElement>(null)
  const [pair, setPair] = useState<Fed>('USDT/BRL')
  const priceNow = (of: Fed) => known.find((one) => one.pair === of)?.price ?? ''
  const [price, setPrice] = useState(priceNow('USDT/BRL'))
  const [age, setAge] = useState('')
  const [tried, setTried] = useState(false)
  const act = useAct('console.prices.set', { stale: ['console.prices.'] })
  const [base = '', quote = ''] = pair.split('/')
  const wrong = {
    price: !PRICE.test(price.trim()),
    age: !/^\d{0,5}$/.test(age.trim()) || Number(age) > 86_400,
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (wrong.price || wrong.age) return void setTimeout(() => focusFirstMistake(form.current))
    const age_seconds = age.trim() === '' ? {} : { age_seconds: Number(age) }
    await act
      .mutateAsync({ params: { environment }, body: { pair, price: price.trim(), ...age_seconds } })
      .then(onClose, () => {})
  }

  return (
    <Dialog title={words.set_title} onClose={onClose} size="narrow">
      <form ref={form} onSubmit={submit} noValidate>
        <div className="b">
          <p className="quiet">{words.set_about}</p>
          <Field label={conversions.pair}>
            <Select
              value={pair}
              onValue={(next) => {
                setPair(next as Fed)
                setPrice(priceNow(next as Fed))
              }}
              options={fed.map((one) => [one, one])}
            />
          </Field>
          <Field
            label={words.value}
            hint={words.value_hint(base, quote)}
            error={tried && wrong.price && words.value_wrong}
          >
            <Input value={price} onValue={setPrice} inputMode="decimal" mono autoComplete="off" />
          </Field>
          <Field
            label={words.age_seconds}
            hint={words.age_hint}
            error={tried && wrong.age && words.age_wrong}
          >
            <Input value={age} onValue={setAge} inputMode="numeric" mono autoComplete="off" />
          </Field>
          {act.isError && <Failure error={act.error} />}
        </div>
        <DialogFoot>
          <Button onClick={onClose}>{ui.cancel}</Button>
          <Button kind="primary" type="submit" busy={act.isPending && words.saving}>
            {words.save}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  )
}
