import { plural } from '../plural.ts'
import type { golive as en } from './en.ts'

const n = plural('pt-BR')

export const golive: typeof en = {
  title: 'Entrada em produção',
  about: 'A lista que trilho golive percorre, vista por este nó. Nenhum dinheiro é movimentado.',
  ready: 'Está tudo certo: você pode entrar em produção',
  red: (count) => n(count, { one: '# linha vermelha', other: '# linhas vermelhas' }),
  walking: 'Consultando trilhos, banco de dados e alertas…',
  again: 'Verificar de novo',
  hidden: (count) => n(count, { one: '# linha certa ou não usada', other: '# linhas certas ou não usadas' }),
  all: 'Todas as linhas',
  only_red: 'Linhas vermelhas',
  shown: 'Quais linhas',
  failed: 'Não foi possível percorrer a lista.',
  kept: 'Um resultado vale por um minuto.',
  states: { ok: 'Certo', red: 'Vermelho', unknown: 'Desconhecido', unused: 'Não usado' },
  areas: {
    settings: 'Configurações',
    rails: 'Trilhos e cotações',
    round_trips: 'Primeiros pagamentos',
    people: 'Operadores',
    database: 'Banco de dados, backups e discos',
    watching: 'Métricas, alertas, e-mail e auditoria',
    clock: 'Relógio',
  },
  commands: 'Comandos',
}
