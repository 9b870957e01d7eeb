/**
 * The Portuguese texts of the checklist. Each check has a title and, for each of its results, what was found and what to do; `{name}`
 * stands for a value of the line.
 */
type Said = readonly [found: string, to_do?: string]
type CheckText = { readonly about: string; readonly says: Readonly<Record<string, Said>> }

const ask_database: Said = [
  'Desconhecido: {why}.',
  'Verifique se o banco de dados responde e rode este comando de novo.',
]
const ask_rail: Said = ['Desconhecido: {why}.', 'Rode a verificação do trilho e depois este comando de novo.']
const never_read: Said = [
  'O saldo da carteira nunca foi lido.',
  'Rode um nó com ROLE all ou worker, que lê o saldo a cada 15 segundos, e verifique os endpoints.',
]
const monitoring = 'docs/operate/monitoring.md, “Dashboard and alerts”'

export const lines: Readonly<Record<string, CheckText>> = {
  public_url: {
    about: 'Os parceiros acessam o serviço por HTTPS',
    says: {
      ok: ['PUBLIC_URL é {url}.'],
      absent: [
        'PUBLIC_URL não está definida.',
        'Defina PUBLIC_URL com o endereço https que os parceiros usam e reinicie todos os nós.',
      ],
      plain: [
        'PUBLIC_URL é {url}, sem TLS: as chaves de API trafegariam em texto claro.',
        'Coloque um proxy com certificado na frente do serviço e defina PUBLIC_URL com o endereço https dele.',
      ],
    },
  },
  certificate: {
    about: 'O certificado de PUBLIC_URL é confiável e vale por mais duas semanas',
    says: {
      ok: ['O certificado vale até {until}, por mais {left}.'],
      none: [
        'PUBLIC_URL não é um endereço https, então não há certificado.',
        'Defina PUBLIC_URL com um endereço https.',
      ],
      untrusted: [
        'O certificado não é confiável a partir daqui: {problem}.',
        'Instale um certificado de uma autoridade pública para o host de PUBLIC_URL, com a cadeia inteira.',
      ],
      ending: [
        'O certificado vale até {until}, por mais {left}. Menos de 14 d é pouco.',
        'Renove o certificado e descubra por que ele não foi renovado sozinho.',
      ],
      unknown: [
        'Desconhecido: {why}.',
        'Rode este comando onde PUBLIC_URL pode ser acessada e verifique o DNS, o firewall e o proxy.',
      ],
    },
  },
  public_page: {
    about: 'PUBLIC_URL leva a este serviço',
    says: {
      ok: ['PUBLIC_URL/healthz responde.'],
      other: [
        'PUBLIC_URL/healthz responde com o status {http}, e não como este serviço.',
        'Faça o proxy encaminhar todos os caminhos para a porta do serviço.',
      ],
      unknown: ['Desconhecido: {why}.', 'Verifique o DNS, o firewall e o proxy.'],
    },
  },
  proxy: {
    about: 'O proxy na frente do serviço é confiável',
    says: {
      ok: ['TRUST_PROXY está definida.'],
      absent: [
        'TRUST_PROXY não está definida: todos os parceiros parecem vir do proxy e dividem os limites e o endereço dele.',
        'Defina TRUST_PROXY com os endereços do proxy que termina o TLS, e nada mais.',
      ],
    },
  },
  secret_key: {
    about: 'SECRET_KEY é aleatória',
    says: {
      ok: ['A chave parece aleatória.'],
      weak: [
        'SECRET_KEY repete poucos bytes: é um exemplo ou uma chave de teste.',
        'Gere uma chave aleatória, coloque a atual em SECRET_KEY_PREVIOUS e faça a rotação.',
      ],
    },
  },
  test_settings: {
    about: 'Nenhuma configuração de teste está em vigor',
    says: {
      ok: ['Nenhuma está.'],
      set: ['Definidas, e só para testes: {names}.', 'Remova essas configurações e reinicie todos os nós.'],
    },
  },
  egress: {
    about: 'Os webhooks só alcançam endereços públicos',
    says: {
      ok: ['WEBHOOK_ALLOW_PRIVATE está desligada.'],
      open: [
        'WEBHOOK_ALLOW_PRIVATE está ligada: um parceiro pode fazer o serviço chamar endereços da sua rede.',
        'Remova WEBHOOK_ALLOW_PRIVATE e reinicie todos os nós.',
      ],
    },
  },
  retention: {
    about: 'Os registros são guardados pelo tempo prometido aos parceiros',
    says: {
      ok: ['Eventos {events} d, entregas {deliveries} d, requisições {requests} d.'],
      short: [
        'Eventos {events} d, entregas {deliveries} d, requisições {requests} d. O mínimo é 30 d, 7 d e 7 d.',
        'Aumente EVENT_RETENTION_DAYS, DELIVERY_RETENTION_DAYS ou REQUEST_RETENTION_DAYS.',
      ],
    },
  },
  demo: {
    about: 'Nada restou da demonstração',
    says: {
      ok: ['Não há parceiro, usuário nem chave de demonstração.'],
      left: [
        'Restou da demonstração: {what}.',
        'Remova o usuário e o arquivo, revogue as chaves do parceiro e defina DEMO como false.',
      ],
      unknown: ask_database,
    },
  },
  some_rail: {
    about: 'A produção tem um trilho',
    says: {
      ok: ['Configurados: {rails}.'],
      none: [
        'Nenhum trilho está configurado: a produção recusa todo payout e toda transferência.',
        'Configure o Pix ou uma rede (docs/operate/going-live.md).',
      ],
    },
  },
  unused_rail: {
    about: 'Trilhos não configurados',
    says: { unused: ['{subject} não está configurado: as ordens nele são recusadas.'] },
  },
  rail_check: {
    about: 'O trilho está configurado e responde',
    says: {
      ok: ['{subject} passa na verificação.'],
      wrong: [
        '{subject}: {problem}',
        'Corrija o que a mensagem indica. Até a verificação passar, nada é aceito neste trilho.',
      ],
      unknown: ask_rail,
    },
  },
  rail_endpoints: {
    about: 'Dois endpoints concordam sobre o que é final',
    says: {
      ok: ['{healthy} de {all} endpoints estão saudáveis.'],
      alone: [
        'Só há um endpoint: um nó que mente seria acreditado.',
        'Acrescente um endpoint de outro provedor à configuração que termina em _RPC.',
      ],
      ill: [
        '{healthy} de {all} endpoints estão saudáveis. São necessários dois.',
        'Substitua os endpoints que falham. A página Trilhos e processos mostra a última falha de cada um.',
      ],
    },
  },
  rail_signer: {
    about: 'O assinador responde',
    says: {
      ok: ['Ele assina pela carteira {wallet}.'],
      wrong: [
        '{subject}: {problem}',
        'Inicie o assinador, ou corrija o que a mensagem aponta (docs/operate/signer.md).',
      ],
      unknown: [
        'Desconhecido: {why}.',
        'Verifique a chave da carteira, ou o assinador, nas configurações de um nó que envia (ROLE all ou worker). Rode este comando lá.',
      ],
    },
  },
  rail_notices: {
    about: 'O provedor envia avisos a este serviço',
    says: {
      ok: ['Os avisos vão para {host}.'],
      none: [
        'Nenhum endereço de avisos está registrado: a Efí só paga a partir de uma chave Pix que tenha um.',
        'Registre PUBLIC_URL/rails/pix/efi/TOKEN no provedor (docs/operate/going-live.md, “Pix”).',
      ],
      elsewhere: [
        'Os avisos vão para {host}, e não para PUBLIC_URL com EFI_NOTICE_TOKEN.',
        'Registre PUBLIC_URL/rails/pix/efi/TOKEN no provedor (docs/operate/going-live.md, “Pix”).',
      ],
      unknown: [
        'Desconhecido: {why}.',
        'Dê à aplicação no provedor o escopo webhook.read e verifique a autenticação.',
      ],
    },
  },
  rail_open: {
    about: 'O trilho não está pausado',
    says: {
      ok: ['{subject} aceita ordens.'],
      paused: [
        '{subject} está pausado desde {at} por {by}: {reason}',
        'Leia o motivo. Dois operadores retomam o trilho.',
      ],
      unknown: ask_database,
    },
  },
  rail_limits: {
    about: 'Os operadores definiram limites',
    says: {
      ok: ['Uma ordem, o dia e o piso têm limite.'],
      missing: [
        '{subject} não tem limite para: {missing}.',
        'Defina limites baixos para a primeira semana, na menor unidade.',
      ],
      unknown: ask_database,
    },
  },
  rail_holdings: {
    about: 'A carteira ou conta tem mais do que o piso',
    says: {
      ok: ['Há {amount}; o piso é {floor}.'],
      low: [
        'Há {amount}, e o piso é {floor}: nada pode ser pago.',
        'Abasteça a carteira ou a conta e registre o que chegou como movimento de custódia.',
      ],
      old: ['O saldo da carteira foi lido pela última vez há {age}.', never_read[1]!],
      none: never_read,
      unknown: ask_rail,
    },
  },
  rail_gas: {
    about: 'A carteira tem o suficiente da moeda que paga a rede',
    says: {
      ok: ['Há {amount} wei de {coin}; o piso é {floor}.'],
      low: [
        'Há {amount} wei de {coin}, e o piso é {floor}: nada pode ser enviado.',
        'Envie {coin} para a carteira.',
      ],
      none: never_read,
      unknown: ask_rail,
    },
  },
  rail_reconciled: {
    about: 'Os livros e a carteira ou conta são iguais',
    says: {
      ok: ['A diferença era 0, há {age}.'],
      none: [
        'Os livros nunca foram comparados com o saldo de {subject}.',
        'Faça a conciliação. Um nó com ROLE all ou worker faz isso a cada cinco minutos.',
      ],
      differs: [
        'A carteira ou conta tem {difference} além dos livros.',
        'Registre o que você moveu como movimento de custódia, ou encontre a causa (docs/operate/incidents.md).',
      ],
      old: [
        'A última conciliação foi há {age}.',
        'Rode um nó com ROLE all ou worker e verifique os endpoints.',
      ],
      unknown: ask_database,
    },
  },
  prices: {
    about: 'As cotações são recentes, e duas corretoras concordam em cada uma',
    says: {
      ok: ['Duas ou mais corretoras concordam em: {pairs}.'],
      file: ['PRICES_FILE tem cotações recentes de: {pairs}.'],
      nowhere: ['A produção não cota preços: as conversões são recusadas.'],
      few: [
        'Menos de duas corretoras concordam em: {pairs}.',
        'Verifique o acesso às corretoras. A página Trilhos e processos diz o que cada uma respondeu.',
      ],
      old: ['PRICES_FILE não tem cotação recente de: {pairs}.', 'Reinicie o programa que escreve o arquivo.'],
      unknown: ask_rail,
    },
  },
  round_trip: {
    about: 'Um pagamento seu saiu e é final',
    says: {
      ok: ['{id} pagou {amount}, final desde {at}.'],
      none: [
        'Nenhuma ordem se tornou final em {subject} com a carteira ou conta atual.',
        'Pague o menor valor a um endereço ou a uma chave Pix sua, com uma chave de produção de um parceiro seu. Dois operadores creditam o cliente.',
      ],
      old: [
        '{id} se tornou final há {age}. Menos de 30 d prova que o trilho funciona agora.',
        'Pague mais uma vez o menor valor a um endereço ou a uma chave Pix sua.',
      ],
      unknown: ask_database,
    },
  },
  two_operators: {
    about: 'Dois operadores podem decidir sobre dinheiro',
    says: {
      ok: ['{count} operadores podem propor e aprovar, cada um com segundo fator.'],
      few: [
        'Operadores que podem propor e aprovar e têm segundo fator: {count}. São necessários dois.',
        'Crie outro operador. Cada operador configura o segundo fator no primeiro acesso.',
      ],
      unknown: ask_database,
    },
  },
  second_factors: {
    about: 'Todo operador tem segundo fator',
    says: {
      ok: ['Todos têm.'],
      none: ['Não há operador.', 'Crie dois operadores.'],
      missing: ['Sem segundo fator: {emails}.', 'Peça a esses operadores que configurem um, ou remova-os.'],
      unknown: ask_database,
    },
  },
  backup: {
    about: 'Há um backup do último dia',
    says: {
      ok: ['{source} contém tudo até {until}, há {age}.'],
      none: [
        'Nenhum backup está registrado.',
        'Faça um backup todo dia, pelo cron. O backup do seu próprio PostgreSQL é feito por outras ferramentas: registre-o quando estiver completo.',
      ],
      old: [
        'O backup mais novo, {source}, contém tudo até {until}, há {age}.',
        'Descubra por que nenhum backup foi feito desde então e faça um.',
      ],
      unknown: ask_database,
    },
  },
  backup_verified: {
    about: 'Um backup da última semana foi restaurado e auditado',
    says: {
      ok: ['{source} foi restaurado como teste; contém tudo até {until}.'],
      none: [
        'Nenhum backup está registrado como restaurado em teste.',
        'Verifique um backup: ele é restaurado em uma pasta temporária e auditado. Registre o teste de um backup feito por outras ferramentas.',
      ],
      old: ['O backup mais novo restaurado em teste, {source}, tem {age}.', 'Verifique um backup mais novo.'],
      unknown: ask_database,
    },
  },
  standby: {
    about: 'Um standby tem todos os commits',
    says: {
      ok: ['{name} é um standby síncrono, com {lag} de atraso.'],
      provider: ['DATABASE_STANDBY diz que o provedor mantém um standby síncrono. O serviço não o vê.'],
      embedded: [
        'O banco embutido não tem standby: se o disco se perde, perdem-se os pagamentos feitos depois do backup.',
        'Use um PostgreSQL próprio com standby síncrono e migre os dados (docs/operate/scaling.md, docs/operate/install.md).',
      ],
      none: [
        'Nenhum standby está conectado ao primário.',
        'Conecte um standby síncrono (docs/operate/scaling.md). Defina DATABASE_STANDBY como provider se o seu provedor mantém um que não é visível.',
      ],
      asynchronous: [
        '{name} não é síncrono: um failover perde os commits que ele não recebeu.',
        'Inclua o standby em synchronous_standby_names, ou deixe o Patroni fazer isso (docs/operate/scaling.md).',
      ],
      behind: ['{name} está {lag} atrasado.', 'Verifique a rede e o disco do standby.'],
      hidden: [
        'Há um standby conectado, e o banco não informa o estado dele a este usuário.',
        'Permita que o dono leia as estatísticas de replicação.',
      ],
      unknown: [
        'Desconhecido: {why}.',
        'Rode este comando onde DATABASE_URL indica o dono e verifique se o banco responde.',
      ],
    },
  },
  database_tls: {
    about: 'O caminho até o banco de dados é cifrado',
    says: {
      ok: ['O serviço verifica o certificado do banco de dados.'],
      near: ['O banco de dados está nesta máquina.'],
      off: [
        'O banco de dados está em outra máquina, e o TLS está desligado.',
        'Dê um certificado ao banco de dados e remova DATABASE_TLS=off e sslmode=disable.',
      ],
    },
  },
  disk: {
    about: 'O disco tem espaço',
    says: {
      ok: ['{subject}: {free} GB de {size} GB estão livres.'],
      full: [
        '{subject}: {free} GB de {size} GB estão livres. São necessários ao menos 2 GB e um décimo.',
        'Remova backups antigos ou aumente o disco.',
      ],
      unknown: ['Desconhecido: {why}.', 'Verifique a pasta e as permissões dela.'],
    },
  },
  metrics: {
    about: 'As métricas deste nó podem ser lidas',
    says: {
      ok: ['/metrics responde.'],
      absent: [
        'Nem METRICS_TOKEN nem METRICS_PORT está definida: ninguém pode ler as métricas.',
        'Defina METRICS_TOKEN e informe-o ao Prometheus.',
      ],
      refused: [
        '/metrics responde com o status {http}.',
        'Rode este comando com as configurações do serviço: METRICS_TOKEN ou METRICS_PORT é outra.',
      ],
      unknown: [
        'Desconhecido: {why}.',
        'Inicie o serviço e rode este comando na máquina dele, com HOST e PORT iguais.',
      ],
    },
  },
  prometheus: {
    about: 'O Prometheus lê as métricas',
    says: {
      ok: ['O Prometheus está pronto e tem dados de {nodes} nós.'],
      absent: [
        'PROMETHEUS_URL não está definida.',
        `Defina PROMETHEUS_URL com o endereço do Prometheus visto desta máquina (${monitoring}).`,
      ],
      refused: ['O Prometheus responde com o status {http}.', 'Veja o log do Prometheus.'],
      blind: [
        'O Prometheus está pronto e não tem dados deste serviço.',
        'Acrescente os nós à configuração do Prometheus, com METRICS_TOKEN (deploy/prometheus).',
      ],
      unknown: ['Desconhecido: {why}.', 'Inicie o Prometheus e verifique PROMETHEUS_URL.'],
    },
  },
  alertmanager: {
    about: 'O Alertmanager pode enviar alertas',
    says: {
      ok: ['O Alertmanager está pronto.'],
      absent: [
        'ALERTMANAGER_URL não está definida.',
        `Defina ALERTMANAGER_URL com o endereço do Alertmanager visto desta máquina (${monitoring}).`,
      ],
      refused: ['O Alertmanager responde com o status {http}.', 'Veja o log do Alertmanager.'],
      unknown: ['Desconhecido: {why}.', 'Inicie o Alertmanager e verifique ALERTMANAGER_URL.'],
    },
  },
  mail: {
    about: 'Os operadores recebem e-mail',
    says: {
      ok: ['O servidor de e-mail aceitou uma mensagem em {at}.'],
      absent: [
        'SMTP_URL não está definida: os operadores só veem notificações no console.',
        'Defina SMTP_URL e MAIL_FROM (docs/operate/mail.md).',
      ],
      untried: [
        'Nenhum e-mail foi enviado ainda.',
        'Envie um e-mail de teste e encontre-o na caixa de entrada.',
      ],
      failing: [
        'A última tentativa falhou em {at}: {problem}',
        'Corrija SMTP_URL e envie um e-mail de teste.',
      ],
      unknown: ask_database,
    },
  },
  audit: {
    about: 'A auditoria da produção terminou e não encontrou nada',
    says: {
      ok: ['Nada encontrado, há {age}.'],
      none: [
        'Nenhuma passagem da auditoria em segundo plano terminou ainda.',
        'Rode um nó com ROLE all ou worker, com AUDIT_EVERY_MS acima de 0, e espere a primeira passagem.',
      ],
      old: ['A última auditoria completa foi há {age}.', 'Procure “audit” no log dos nós que trabalham.'],
      found: [
        'Divergências: {findings}.',
        'Não entre em produção. Descubra o que cada divergência significa (docs/operate/incidents.md).',
      ],
      unknown: ask_database,
    },
  },
  exceptions: {
    about: 'Nada na produção espera por uma pessoa',
    says: {
      ok: ['Não há exceções abertas.'],
      open: ['Exceções abertas: {count}.', 'Veja cada uma e feche-a quando a causa tiver desaparecido.'],
      unknown: ask_database,
    },
  },
  database_clock: {
    about: 'Esta máquina e o banco de dados têm a mesma hora',
    says: {
      ok: ['A diferença é de {offset}.'],
      off: [
        'A diferença é de {offset}. O certo é no máximo 500 ms.',
        'Configure o NTP nesta máquina e na do banco de dados.',
      ],
      unknown: ask_database,
    },
  },
  outside_clock: {
    about: 'Esta máquina tem a hora do mundo',
    says: {
      ok: ['{source} difere em {offset}, medido com precisão de {within}.'],
      unasked: ['Nenhum endpoint ou corretora com https está configurado para informar a hora.'],
      off: [
        '{source} difere em {offset}, medido com precisão de {within}. O certo é no máximo 2 s.',
        'Configure o NTP nesta máquina.',
      ],
      unknown: ['Desconhecido: {why}.', 'Verifique o acesso aos endpoints e às corretoras.'],
    },
  },
}
