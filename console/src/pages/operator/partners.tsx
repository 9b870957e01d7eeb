import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useFormId } from '../../api/form-id.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { percentText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActDialog, type Acted, ActedNote, ShownOnce } from './acted.tsx'

type Partner = Reply<'console.operator.partners.list'>['data'][number]

export function PartnersPage() {
  const { operator, ui } = useText()
  const { partners } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const { may } = useSession()
  const list = useCall('console.operator.partners.list', { params: { environment } })
  const [making, setMaking] = useState(false)
  const [acted, setActed] = useState<Acted>()
  return (
    <>
      <PageHead
        title={partners.title}
        about={partners.about}
        actions={
          may('operator.rule') && (
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              {partners.create}
            </Button>
          )
        }
      />
      {acted !== undefined && acted.link === undefined && (
        <Section tight>
          <ActedNote acted={acted} />
        </Section>
      )}
      <Table<Partner>
        label={partners.title}
        rows={list.data?.data}
        query={list}
        keyOf={({ id }) => id}
        keys
        empty={<Empty title={partners.empty} />}
        columns={[
          {
            key: 'name',
            head: partners.name,
            fold: 'm1',
            cell: ({ id, name }) => (
              <Link
                className="plain"
                to="/operator/$environment/partners/$partner_id"
                params={{ environment, partner_id: id }}
              >
                {name}
              </Link>
            ),
          },
          {
            key: 'tier',
            head: partners.tier,
            fold: 'a1',
            cell: ({ tier }) => ui.tiers[tier] ?? tier,
          },
          {
            key: 'pix_fee',
            head: partners.pix_fee,
            right: true,
            fold: 'a2',
            labelled: true,
            cell: ({ pix_fee }) => <Amount units={`${pix_fee}`} asset="BRL" />,
          },
          {
            key: 'service',
            head: partners.service_fee,
            right: true,
            cell: ({ service_fee_bps }) => percentText(service_fee_bps, language),
          },
          {
            key: 'share',
            head: partners.share,
            right: true,
            cell: ({ partner_fee_share_pct }) => percentText(partner_fee_share_pct * 100, language),
          },
          {
            key: 'third',
            head: partners.third_party,
            cell: ({ third_party_payouts }) => (third_party_payouts ? ui.yes : ui.no),
          },
          {
            key: 'since',
            head: partners.since,
            fold: 'm2',
            cell: ({ created_at }) => <Time at={created_at} as="day" />,
          },
          { key: 'id', head: partners.id, cell: ({ id }) => <Id id={id} /> },
        ]}
      />
      <EndMark />
      {making && <CreatePartner onActed={setActed} onClose={() => setMaking(false)} />}
      {acted?.link !== undefined && (
        <ShownOnce
          acted={acted}
          alone={{ title: partners.link_title, about: partners.link_about }}
          onDone={() => setActed(undefined)}
        />
      )}
    </>
  )
}

type MakeProps = { readonly onActed: (acted: Acted) => void; readonly onClose: () => void }

function CreatePartner({ onActed, onClose }: MakeProps) {
  const { operator } = useText()
  const { partners } = operator
  const environment = useEnvironment()
  const create = useAct('console.operator.partners.create', { stale: ['console.operator.'] })
  const form_id = useFormId()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const [email, setEmail] = useState('')
  return (
    <ActDialog
      title={partners.create_title}
      verb={partners.create}
      busy={partners.creating}
      blocked={[name, owner, email].some((text) => text.trim() === '')}
      onAct={() =>
        create.mutateAsync({
          params: { environment },
          body: { form_id, name: name.trim(), owner_name: owner.trim(), owner_email: email.trim() },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field label={partners.name}>
        <Input value={name} onValue={setName} maxLength={120} autoComplete="off" />
      </Field>
      <Field label={partners.owner_name}>
        <Input value={owner} onValue={setOwner} maxLength={120} autoComplete="off" />
      </Field>
      <Field label={partners.owner_email}>
        <Input value={email} onValue={setEmail} type="email" maxLength={254} autoComplete="off" />
      </Field>
    </ActDialog>
  )
}
