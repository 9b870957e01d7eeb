import { Link } from '@tanstack/react-router'
import { Amount } from '../src/ui/amount.tsx'
import { Asset, Coin } from '../src/ui/asset.tsx'
import { Button } from '../src/ui/button.tsx'
import { Code } from '../src/ui/code.tsx'
import { Details } from '../src/ui/details.tsx'
import { Id } from '../src/ui/id.tsx'
import { Menu } from '../src/ui/menu.tsx'
import { Meter } from '../src/ui/meter.tsx'
import { Notice } from '../src/ui/notice.tsx'
import { Crumbs, PageHead, Section } from '../src/ui/page.tsx'
import { Rich } from '../src/ui/rich.tsx'
import { Status } from '../src/ui/status.tsx'
import { Time } from '../src/ui/time.tsx'
import { Track } from '../src/ui/track.tsx'

const shapes = ['done', 'going', 'waiting', 'failed', 'unknown', 'attention', 'ended', 'off']
const at = (clock: string) => `2026-11-15T${clock}Z`
const PAYOUT = 'po_01m7e0svhcehj34h3txt8xzbnr'

const steps = [
  { key: '1', at: at('12:41:22.104'), title: 'Accepted', text: 'Debited from the customer and in transit' },
  { key: '2', at: at('12:41:22.131'), title: 'Sent to the Pix network', text: 'Under send id T8h2' },
  { key: '3', at: at('12:41:24.104'), title: 'No answer', mark: 'unknown', open: true },
  { key: '4', at: at('12:41:29.140'), title: 'Queried, still unknown', soft: true, open: true },
  { key: '5', at: at('12:41:34.512'), title: 'Completed', mark: 'done' },
] as const

const ahead = [
  { key: '1', at: at('12:41:22.104'), title: 'Accepted' },
  { key: '2', at: at('12:41:22.131'), title: 'Sent', mark: 'going' },
  { key: '3', title: 'Confirmed', mark: 'waiting' },
] as const

/** The amount exceeds the safe integers of JavaScript. */
const json = `{"id":"${PAYOUT}","amount":12345678901234567890,"done":false,"note":null,"of":{"name":"Ana \\"A\\" Souza","list":[1,2],"none":[],"empty":{}}}`

export function Marks() {
  return (
    <>
      <Crumbs>
        {[
          <Link key="up" to="/">
            Payouts
          </Link>,
          <Id key="id" id={PAYOUT} />,
        ]}
      </Crumbs>
      <PageHead
        tab="Gallery"
        title={
          <span className="value">
            <Amount units="482000" asset="BRL" /> <small>to Ana Souza</small>
          </span>
        }
        under={
          <>
            <Status state="completed" large>
              Completed
            </Status>
            <span className="quiet">Today 09:41:34</span>
          </>
        }
        actions={
          <>
            <Button icon="webhooks">Redeliver events</Button>
            <Menu
              items={[
                { label: 'Copy as curl', icon: 'copy', onPick: () => {} },
                'line',
                { label: 'Revoke', danger: true, onPick: () => {} },
                { label: 'Not now', disabled: true, onPick: () => {} },
              ]}
            />
          </>
        }
      />
      <Section title="Marks" about="Shape, colour, word">
        <div className="row wrap gap-4">
          {shapes.map((shape) => (
            <Status key={shape} state={shape}>
              {shape}
            </Status>
          ))}
        </div>
        <div className="row wrap gap-4">
          <Asset asset="BRL" />
          <Asset asset="USDT" />
          <Asset asset="BTC" />
          <Coin asset="BRL" big />
          <Coin asset="USDT" big />
          <Coin asset="BTC" big />
        </div>
        <div className="row wrap gap-4">
          <Amount units="482000" asset="BRL" />
          <Amount units="2401000000" asset="USDT" />
          <Amount units="-5000000" asset="BTC" />
          <Amount units="482000" asset="BRL" change as="column" />
          <Amount units="6914007" asset="BRL" as="bare" total />
          <Time at="2026-11-14T20:02:59Z" />
          <Time at="2026-11-15T12:41:22.104Z" as="detail" />
          <Id id="0x52908400098527886E0F7030069857D2E4169EE7" as="address" />
        </div>
        <Meter used="82" of="100" label="Of today’s limit" />
        <Meter used="20" of="100" label="Of tonight’s limit" />
      </Section>
      <div className="cols c31">
        <div>
          <Section title="Timeline" about="15 November 2026, São Paulo time">
            <Track steps={steps} />
            <Track steps={ahead} />
          </Section>
          <Section title="Code">
            <div className="stack-4">
              <Code title="Response" as="json" aside={<span className="tag">201</span>}>
                {json}
              </Code>
              <Code title="Try it" as="shell">
                {'curl https://api.lumen.example/v1/account \\\n  -H "Authorization: Bearer $TRILHO_KEY"'}
              </Code>
              <Code title="What the receiver said">{'<html><script>alert(1)</script> 503'}</Code>
            </div>
          </Section>
        </div>
        <Section title="Details">
          <Details
            rows={[
              [
                'Customer',
                <Link key="c" to="/">
                  Ana Souza
                </Link>,
              ],
              ['End-to-end id', <Id key="e" id="E1823612020261115125141k3Qz81mXw0a" />],
              ['Left out', undefined],
              ['Created', <Time key="t" at="2026-11-15T12:41:22.104Z" as="detail" />],
            ]}
          />
        </Section>
      </div>
      <Section title="Notices">
        <div className="stack">
          <Notice action={<Button small>Show</Button>}>
            <Rich>
              {'The Pix network has not answered for **2 payouts**. `processing` means nothing is lost.'}
            </Rich>
          </Notice>
          <Notice kind="bad">E-mail and password do not match.</Notice>
          <Notice kind="calm">A production key can move real money.</Notice>
        </div>
      </Section>
    </>
  )
}
