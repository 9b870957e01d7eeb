import { html } from '../src/doors/reference/html.ts'
import { markdownAddress, type Page } from './page.ts'

/** What English pages are about, in Portuguese, by address. A page without a line here is listed with its English description. */
const about: Readonly<Record<string, string>> = {
  '/docs/sdk': 'O SDK em TypeScript: chamadas tipadas, novas tentativas que nunca pagam duas vezes',
  '/docs/python': 'O pacote em Python: as mesmas chamadas',
  '/docs/cli': 'A linha de comando, para parceiros e para operadores',
  '/docs/guides/money': 'Valores, saldos, pagamentos Pix, transferências em USDT e BTC, extrato',
  '/docs/guides/pix-charges': 'Cobranças Pix: peça um valor, mostre o código e saiba quando o saldo mudou',
  '/docs/guides/deposits': 'Depósitos: endereços para receber USDT e BTC, e quando o saldo muda',
  '/docs/guides/environments': 'Sandbox e produção: o que muda e o que nunca se mistura',
  '/docs/guides/authentication': 'Chaves de API: escopos, lista de IPs, troca e revogação',
  '/docs/guides/idempotency': 'Chaves de idempotência: repetir uma chamada sem pagar duas vezes',
  '/docs/guides/events': 'O registro de eventos: ler desde qualquer ponto e acompanhar ao vivo',
  '/docs/guides/webhooks': 'Receber eventos no seu servidor e conferir a assinatura',
  '/docs/guides/sandbox': 'Dinheiro de teste, e como provocar cada resultado e cada erro',
  '/docs/guides/errors': 'O que fazer com cada erro, e quando repetir é seguro',
  '/docs/guides/limits': 'Quantas requisições uma chave pode fazer, e o que fazer com um 429',
  '/docs/guides/lists': 'Filtros, páginas e cursores',
  '/docs/guides/conversions': 'Cotações que valem 30 segundos, conversões e tarifas',
  '/docs/guides/payroll':
    'Folha de pagamento: pagar 200 pessoas, uma vez cada, interromper, retomar e conciliar',
  '/docs/guides/reconcile': 'Conciliação: comparar os seus livros com o extrato, até o último centavo',
  '/docs/guides/going-live': 'A lista de verificação antes da produção',
  '/docs/guides/console': 'O console: chaves, pagamentos, webhooks, pessoas',
  '/docs/api': 'Referência da API: cada chamada, com exemplos em três linguagens',
  '/docs/operate/install': 'Instalar: contêiner, systemd ou Node',
  '/docs/operate/security': 'Segurança do serviço e do banco de dados',
  '/docs/operate/going-live': 'Entrar em produção: chaves, nós e o primeiro pagamento em cada rede',
  '/docs/operate/monitoring': 'Saúde, logs, métricas e alertas',
  '/docs/operate/mail': 'Avisos por e-mail: servidor SMTP e o que é enviado a quem',
  '/docs/operate/custody': 'Custódia, conciliação e bancos de dados restaurados',
  '/docs/operate/signer': 'O assinador: um processo próprio que guarda as chaves das carteiras',
  '/docs/operate/retention': 'O que é guardado, e por quanto tempo',
  '/docs/operate/backup': 'Cópias de segurança, e como conferir que funcionam',
  '/docs/operate/upgrade': 'Atualizar sem parar',
  '/docs/operate/rotate': 'Trocar chaves e senhas do serviço',
  '/docs/operate/money': 'Créditos, correções, propostas, tesouraria e auditoria',
  '/docs/operate/rails': 'Trilhos: pausar, retomar e limitar',
  '/docs/operate/incidents': 'O que fazer quando um alerta dispara',
  '/docs/operate/scaling': 'Vários nós e troca do banco de dados primário',
  '/docs/changelog': 'O que mudou em cada versão',
}

const parts = [
  ['Para chamar a API', ['/docs/sdk', '/docs/python', '/docs/cli', '/docs/guides/', '/docs/api']],
  ['Para operar o serviço', ['/docs/operate/', '/docs/changelog']],
] as const

/** The Portuguese start page: what there is in Portuguese, and what each English page is about. */
export function portugueseHome(pages: readonly Page[]): Page {
  const listed = pages.filter(({ under, address }) => under === undefined && address !== '/docs')
  const own = listed.filter(({ language }) => language === 'pt')
  const english = (prefixes: readonly string[]) =>
    listed
      .filter(({ language, address }) => language === 'en' && prefixes.some((one) => isBelow(address, one)))
      .toSorted((a, b) => placeOf(a.address) - placeOf(b.address))
  const lede =
    'O início rápido, o guia de erros e uma página para cada código de erro estão em português. As outras páginas estão em inglês; abaixo, o assunto de cada uma.'
  const groups = [
    { title: 'Em português', pages: own },
    ...parts.map(([title, prefixes]) => ({ title: `${title}, em inglês`, pages: english(prefixes) })),
  ].filter((group) => group.pages.length > 0)
  return {
    address: '/docs/pt',
    language: 'pt',
    title: 'Documentação',
    description: lede,
    twin: '/docs',
    headings: [],
    sections: [{ text: lede }],
    head: html`<h1>Documentação do Trilho</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">${lede}</p></div></div>
<div class="columns-3">${groups.map(
      (group) => html`<section><h2>${group.title}</h2>
<ul>${group.pages.map(
        (page) =>
          html`<li><a href="${page.address}"${page.language === 'en' && html` hreflang="en" lang="en"`}>${page.title}</a>${spanOf(page)}</li>\n`,
      )}</ul></section>
`,
    )}</div>`,
    markdown: [
      '# Documentação do Trilho',
      lede,
      ...groups.flatMap((group) => [
        `## ${group.title}`,
        group.pages
          .map(
            (page) =>
              `- [${page.title}](${markdownAddress(page)}): ${about[page.address] ?? page.description}`,
          )
          .join('\n'),
      ]),
    ].join('\n\n'),
  }
}

const spanOf = ({ address, language, description }: Page) =>
  about[address] === undefined && language === 'en'
    ? html`<span lang="en">${description}</span>`
    : html`<span>${about[address] ?? description}</span>`

const isBelow = (address: string, prefix: string) =>
  prefix.endsWith('/') ? address.startsWith(prefix) : address === prefix

const order = Object.keys(about)
const placeOf = (address: string) => (order.includes(address) ? order.indexOf(address) : order.length)
