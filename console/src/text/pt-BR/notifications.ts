import type { Texts } from '../en/en.ts'
import { plural } from '../plural.ts'

const n = plural('pt-BR')

export const notifications: Texts['notifications'] = {
  title: 'Notificações',
  bell: (unread) =>
    unread === 0
      ? 'Notificações'
      : n(unread, { one: 'Notificações, # não lida', other: 'Notificações, # não lidas' }),
  empty: 'Nenhuma notificação ainda',
  empty_about:
    'Novos acessos, novas chaves, webhooks que falham e limites quase esgotados aparecem aqui, por 90 dias.',
  unread: 'Nova',
  open: 'Abrir',
  settings: 'Escolher o que chega por e-mail',
  kinds: {
    sign_in: (count) =>
      n(count, {
        one: 'Alguém entrou na sua conta a partir de um lugar novo.',
        other: 'Alguém entrou na sua conta a partir de lugares novos, # vezes.',
      }),
    key_created: (count) =>
      n(count, {
        one: 'Uma chave de API foi criada ou rotacionada.',
        other: '# chaves de API foram criadas ou rotacionadas.',
      }),
    key_expiring: (count) =>
      n(count, { one: 'Uma chave de API expira em breve.', other: '# chaves de API expiram em breve.' }),
    webhook_disabled: (count) =>
      n(count, {
        one: 'Um endpoint de webhook foi desativado e não recebe eventos.',
        other: 'Endpoints de webhook foram desativados, # vezes. Eles não recebem eventos.',
      }),
    webhook_failing: (count) =>
      n(count, {
        one: 'Um endpoint de webhook está falhando.',
        other: 'Endpoints de webhook falharam # vezes.',
      }),
    limit_near: (count) =>
      n(count, {
        one: 'Uma chave de API usou 80 % das chamadas do dia.',
        other: '# chaves de API usaram 80 % das chamadas do dia.',
      }),
    exception_opened: (count) =>
      n(count, { one: 'Uma exceção foi aberta.', other: '# exceções foram abertas.' }),
    proposal_waiting: (count) =>
      n(count, {
        one: 'Uma proposta aguarda uma segunda pessoa.',
        other: '# propostas aguardam uma segunda pessoa.',
      }),
  },
  money_limit: (count) =>
    n(count, {
      one: 'Um cliente usou 80 % de um limite de valor.',
      other: '# clientes usaram 80 % de um limite de valor.',
    }),
  topics: {
    payout_day: 'pagamentos Pix do dia',
    payout_night: 'pagamentos Pix da noite',
    transfer_day_usdt: 'transferências de USDT do dia',
    transfer_day_btc: 'transferências de BTC do dia',
  },
  terminal: 'um terminal',
  more: (count) => n(count, { one: 'e mais #', other: 'e mais #' }),
  mail: {
    title: 'Notificações por e-mail',
    about:
      'Todas ficam no console. Por e-mail chegam as que você escolher aqui, no máximo um e-mail a cada poucos minutos.',
    choose: 'Enviar um e-mail sobre',
    none: 'O e-mail não está configurado neste serviço: as notificações aparecem só no console. Sua escolha passa a valer quando o e-mail for configurado.',
    confirmed: (email) => `Elas vão para **${email}**.`,
    unconfirmed: (email) =>
      `Confirme que **${email}** é seu. Até lá você não recebe notificações por e-mail.`,
    asked: (email) =>
      `Enviamos um link para **${email}**. Abra-o para confirmar o endereço; até lá você não recebe notificações por e-mail.`,
    not_mailable: (email) =>
      `**${email}** não é um endereço que possa receber e-mails. Peça a um titular que convide você com outro.`,
    ask: 'Enviar um link',
    ask_again: 'Enviar o link de novo',
    asking: 'Enviando…',
    confirm: 'Confirmar este endereço',
    confirm_about: (email) => `Você abriu o link do e-mail enviado para **${email}**.`,
    confirming: 'Confirmando…',
    kinds: {
      sign_in: ['Acesso de um lugar novo', 'Alguém que sabe sua senha entra. Deixe ligado.'],
      key_created: ['Chave de API criada ou rotacionada', 'Em produção e no sandbox.'],
      key_expiring: ['Chave de API expira em breve', 'Sete dias antes.'],
      webhook_disabled: ['Endpoint de webhook desativado', 'Após cinco dias de falhas, ou uma resposta 410.'],
      webhook_failing: ['Endpoint de webhook falha', 'Por mais de um minuto.'],
      limit_near: [
        'Limite quase esgotado',
        '80 % das chamadas do dia de uma chave, ou de um limite de valor de um cliente.',
      ],
      exception_opened: ['Exceção aberta', 'Em produção.'],
      proposal_waiting: ['Proposta aguarda uma segunda pessoa', 'Menos as suas.'],
    },
  },
}
