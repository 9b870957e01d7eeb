import type { NotificationKind, NotificationPlace } from './kinds.ts'

/** Every sentence of a mail, in both languages. `#` stands for the number. */
type Forms = { readonly one: string; readonly other: string }

export type MailText = {
  readonly subject: (count: number) => string
  readonly greeting: string
  readonly places: Readonly<Record<NotificationPlace, string>>
  readonly kinds: Readonly<Record<NotificationKind, Forms>>
  /** `limit_near` about a money limit; the text in `kinds` is about the requests of an API key. */
  readonly money_limit: Forms
  readonly topics: Readonly<Record<string, string>>
  readonly more: (count: number) => string
  readonly last: (time: string) => string
  readonly terminal: string
  readonly footer: string
  readonly confirm_subject: string
  readonly confirm: readonly string[]
  readonly test_subject: string
  readonly test: string
  /** From parts of a UTC time: year, month, day, hour and minute. */
  readonly time: (parts: readonly [string, string, string, string]) => string
}

const en: MailText = {
  subject: (count) => (count === 1 ? 'Trilho: 1 notification' : `Trilho: ${count} notifications`),
  greeting: 'This happened on Trilho:',
  places: { '': 'Your account', production: 'Production', sandbox: 'Sandbox' },
  kinds: {
    sign_in: {
      one: 'Somebody signed in to your account from a new place. If it was not you, end the session and change your password.',
      other:
        'Somebody signed in to your account from new places, # times. If it was not you, end the sessions and change your password.',
    },
    key_created: {
      one: 'An API key was created or rotated.',
      other: '# API keys were created or rotated.',
    },
    key_expiring: { one: 'An API key expires soon.', other: '# API keys expire soon.' },
    webhook_disabled: {
      one: 'A webhook endpoint was disabled, because it only failed or answered 410. It receives no events.',
      other:
        'Webhook endpoints were disabled, because they only failed or answered 410: # times. They receive no events.',
    },
    webhook_failing: {
      one: 'A webhook endpoint fails. Its events are kept and sent again.',
      other: 'Webhook endpoints failed # times. Their events are kept and sent again.',
    },
    limit_near: {
      one: 'An API key has used 80 % of its requests of the day.',
      other: '# API keys have used 80 % of their requests of the day.',
    },
    exception_opened: {
      one: 'An exception was opened: somebody must check it.',
      other: '# exceptions were opened: somebody must check them.',
    },
    proposal_waiting: {
      one: 'A proposal waits for a second operator.',
      other: '# proposals wait for a second operator.',
    },
  },
  money_limit: {
    one: 'A customer has used 80 % of a money limit.',
    other: '# customers have used 80 % of a money limit.',
  },
  topics: {
    payout_day: 'Pix payouts of a day',
    payout_night: 'Pix payouts of a night',
    transfer_day_usdt: 'USDT transfers of a day',
    transfer_day_btc: 'BTC transfers of a day',
  },
  more: (count) => `and ${count} more`,
  last: (time) => `Last: ${time}`,
  terminal: 'a terminal',
  footer: 'Choose what you receive by e-mail:',
  confirm_subject: 'Trilho: confirm your e-mail address',
  confirm: [
    'Somebody signed in to Trilho with this e-mail address. To receive notifications here, sign in and confirm the address:',
    'If this was not you, do nothing: this address receives no notifications.',
  ],
  test_subject: 'Trilho: test',
  test: 'This is a test. Trilho can send mail through this server.',
  time: ([year, month, day, clock]) => `${year}-${month}-${day} ${clock} UTC`,
}

const pt: MailText = {
  subject: (count) => (count === 1 ? 'Trilho: 1 notificação' : `Trilho: ${count} notificações`),
  greeting: 'O que aconteceu no Trilho:',
  places: { '': 'Sua conta', production: 'Produção', sandbox: 'Sandbox' },
  kinds: {
    sign_in: {
      one: 'Alguém entrou na sua conta a partir de um lugar novo. Se não foi você, encerre a sessão e troque a senha.',
      other:
        'Alguém entrou na sua conta a partir de lugares novos, # vezes. Se não foi você, encerre as sessões e troque a senha.',
    },
    key_created: {
      one: 'Uma chave de API foi criada ou rotacionada.',
      other: '# chaves de API foram criadas ou rotacionadas.',
    },
    key_expiring: { one: 'Uma chave de API expira em breve.', other: '# chaves de API expiram em breve.' },
    webhook_disabled: {
      one: 'Um endpoint de webhook foi desativado, porque só falhava ou respondeu 410. Ele não recebe eventos.',
      other:
        'Endpoints de webhook foram desativados, porque só falhavam ou responderam 410: # vezes. Eles não recebem eventos.',
    },
    webhook_failing: {
      one: 'Um endpoint de webhook está falhando. Os eventos ficam guardados e são enviados de novo.',
      other: 'Endpoints de webhook falharam # vezes. Os eventos ficam guardados e são enviados de novo.',
    },
    limit_near: {
      one: 'Uma chave de API usou 80 % das chamadas do dia.',
      other: '# chaves de API usaram 80 % das chamadas do dia.',
    },
    exception_opened: {
      one: 'Uma exceção foi aberta: alguém precisa verificar.',
      other: '# exceções foram abertas: alguém precisa verificar.',
    },
    proposal_waiting: {
      one: 'Uma proposta aguarda um segundo operador.',
      other: '# propostas aguardam um segundo operador.',
    },
  },
  money_limit: {
    one: 'Um cliente usou 80 % de um limite de valor.',
    other: '# clientes usaram 80 % de um limite de valor.',
  },
  topics: {
    payout_day: 'pagamentos Pix do dia',
    payout_night: 'pagamentos Pix da noite',
    transfer_day_usdt: 'transferências de USDT do dia',
    transfer_day_btc: 'transferências de BTC do dia',
  },
  more: (count) => `e mais ${count}`,
  last: (time) => `Última vez: ${time}`,
  terminal: 'um terminal',
  footer: 'Escolha o que você recebe por e-mail:',
  confirm_subject: 'Trilho: confirme seu endereço de e-mail',
  confirm: [
    'Alguém entrou no Trilho com este endereço de e-mail. Para receber notificações aqui, entre e confirme o endereço:',
    'Se não foi você, não faça nada: este endereço não recebe notificações.',
  ],
  test_subject: 'Trilho: teste',
  test: 'Este é um teste. O Trilho consegue enviar e-mails por este servidor.',
  time: ([year, month, day, clock]) => `${day}/${month}/${year} ${clock} UTC`,
}

/** A person who has chosen no language gets English. */
export const mailTextOf = (language: string | null): MailText => (language === 'pt-BR' ? pt : en)
