import { plural } from '../plural.ts'
import type { ChargeFailure, charges as En } from './en.ts'

const n = plural('pt-BR')

const failures: Readonly<Record<ChargeFailure['code'], string>> = {
  provider_error: 'O provedor de pagamento recusou a cobrança.',
  provider_unreachable: 'O provedor de pagamento não pôde ser contatado antes de a cobrança expirar.',
}

export const charges: typeof En = {
  title: 'Cobranças',
  about: 'O que os clientes querem receber por Pix',
  one: 'Cobrança',
  several: 'Cobranças Pix',
  count: (count) => n(count, { one: '# cobrança', other: '# cobranças' }),
  expired_count: (count) => n(count, { one: '# expirada', other: '# expiradas' }),
  on_page: (count) => n(count, { one: '# cobrança nesta página', other: '# cobranças nesta página' }),
  all: 'Todas',
  created: 'Criada',
  description: 'Descrição',
  description_hint: 'O pagador lê este texto. Até 140 caracteres',
  received: 'Recebido',
  received_in: 'Recebido, BRL',
  expires: 'Expira',
  expired_at: 'Expirou',
  txid: 'Txid',
  paid_at: 'Paga',
  failed_at: 'Falhou',
  failure: 'Falha',
  // A code that a newer service sends to this page has only its message.
  failure_text: ({ code, message }) => failures[code] ?? message,
  for_name: (name) => `para ${name}`,
  until: (when) => `pode ser paga até ${when}`,
  state: { pending: 'Pendente', open: 'Aberta', paid: 'Paga', expired: 'Expirada', failed: 'Falhou' },
  empty: 'Nenhuma cobrança ainda',
  empty_text:
    'Uma cobrança pede um valor por Pix a um pagador, com um código QR e um Pix Copia e Cola. Cada pagamento é creditado ao cliente. Crie uma cobrança na página de um cliente, ou com esta chamada.',
  empty_live: 'A primeira cobrança de produção aparece aqui. Teste as cobranças primeiro no sandbox.',
  none: 'Nenhuma cobrança ainda.',
  all_of_customer: 'Todas as cobranças',
  code: {
    about: 'O pagador lê o código QR no aplicativo de um banco, ou cola o texto lá.',
    qr: 'Código QR desta cobrança',
    copy: 'Copiar o código',
    sandbox:
      'Este código é do sandbox: os aplicativos dos bancos o recusam. O botão Pagar faz o papel do pagador.',
    pending: 'A cobrança está sendo registrada no provedor de pagamento. O código aparece aqui.',
  },
  payments: {
    title: 'Pagamentos',
    about: 'Cada um é creditado como um depósito',
    none: 'Ninguém pagou ainda.',
    time: 'Pago',
    payer: 'Pagador',
    kind: 'O que é',
    amount: 'Valor, BRL',
    sum: 'Recebido ao todo',
    deposit: 'Depósito',
    returned: (amount) => `${amount} devolvidos`,
    whole: 'O valor inteiro',
    part: 'Uma parte',
    rest: 'O restante',
    more: 'Mais que o valor pedido',
    again: 'Pago de novo',
    waits: 'Espera espaço no saldo',
    late: (kind) => `${kind}, com atraso`,
  },
  means: {
    part_open: (received, missing, until) =>
      `Paga em parte: ${received} está no saldo do cliente, faltam ${missing}. A cobrança fica aberta até ${until}.`,
    part_expired: (received, missing) =>
      `A cobrança expirou paga em parte: ${received} está no saldo do cliente, faltam ${missing}. Crie outra cobrança para o restante, ou devolva a parte ao pagador.`,
    unpaid:
      'Ninguém pagou a tempo. Um pagamento que chegar agora está atrasado: é creditado mesmo assim, e a cobrança fica paga se o valor estiver completo.',
    again: (more) =>
      `Paga mais de uma vez: ${more} vieram além do valor e estão no saldo do cliente. A cobrança continua paga; você decide se faz a devolução ao pagador.`,
    more: (more) =>
      `O pagador enviou ${more} além do valor pedido. O dinheiro está no saldo do cliente; você decide se faz a devolução.`,
    late: 'O valor foi completado depois que a cobrança expirou. Ele é creditado como qualquer outro pagamento, e a cobrança está paga.',
    waits: (amount) =>
      `Um pagamento de ${amount} ainda não foi creditado: o saldo passaria do maior valor possível. Ele é creditado assim que houver espaço.`,
  },
  create: {
    button: 'Criar cobrança',
    title: (name) => `Cobrança Pix para ${name}`,
    about:
      'A cobrança recebe um código QR e um Pix Copia e Cola. O que o pagador envia é creditado a este cliente.',
    amount: 'Valor, BRL',
    expires: 'Pode ser paga por',
    lasts: {
      '900': '15 minutos',
      '3600': '1 hora',
      '86400': '1 dia',
      '604800': '7 dias',
      '2592000': '30 dias',
    },
    verb: 'Criar',
    busy: 'Criando…',
    key: 'Enviada com a chave de API da área de testes. Em produção, cobranças são criadas pela API.',
  },
  pay: {
    button: 'Pagar',
    title: 'Pagar esta cobrança',
    about:
      'Você faz o papel do pagador. Um valor menor é uma parte, um segundo pagamento vem além do valor, e depois do fim ele está atrasado.',
    amount: 'Valor, BRL',
    verb: 'Pagar',
    busy: 'Pagando…',
  },
  expire: 'Expirar agora',
  expiring: 'Expirando…',
}
