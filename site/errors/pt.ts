import type { ErrorText, ErrorTexts } from './text.ts'

const NAO = 'Nenhum dinheiro se moveu.'

/** O id de uma requisição não indica nada que a chave possa ver. */
const ausente = (
  { um, nenhum }: { um: string; nenhum: string },
  more: { todo: string; money?: string },
): ErrorText => ({
  what: `O id da requisição não corresponde a ${nenhum} que esta chave possa ver. ${um} de outro parceiro, ou do outro ambiente, recebe exatamente a mesma resposta de algo que não existe.`,
  money: more.money ?? NAO,
  todo: more.todo,
  retry: 'Não. O mesmo id com a mesma chave recebe a mesma resposta.',
})

export const texts: ErrorTexts = {
  missing_authorization: {
    what: 'A requisição não tem o cabeçalho `Authorization`. Toda chamada em `/v1` precisa dele, mesmo para um caminho que não existe.',
    money: NAO,
    todo: 'Envie `Authorization: Bearer svc_test_sk_…` com a sua chave de API. Se o seu programa já envia o cabeçalho, procure um proxy ou um redirecionamento que o descarte.',
    retry:
      'Não. Requisições sem uma chave válida contam para o seu endereço: 100 por minuto; depois disso recebem 429.',
  },
  invalid_api_key: {
    what: 'O valor do cabeçalho não é uma chave de API deste servidor: um valor desconhecido ou cortado, um esquema diferente de `Bearer`, nada depois de `Bearer`, ou uma das formas curtas `sk_live_…` e `sk_test_…`. A página `/metrics` também responde assim a um token de métricas errado.',
    money: NAO,
    todo: 'Compare o valor com o que você guardou: uma chave começa com `svc_live_sk_` ou `svc_test_sk_`. O valor aparece uma única vez, quando a chave é criada. Se ele se perdeu, faça a rotação da chave ou crie outra no console, em Desenvolvedores, Chaves de API.',
    retry: 'Não. Chaves erradas contam para o seu endereço: 100 por minuto; depois disso recebem 429.',
  },
  revoked_api_key: {
    what: 'A chave foi revogada, ou este valor foi substituído por uma rotação cujo prazo de carência já terminou.',
    money: `${NAO} Uma operação aceita antes da revogação segue até o fim.`,
    todo: 'Use o novo valor da chave, ou outra chave. Uma chave revogada continua revogada: crie uma nova no console. O que foi criado com a chave antiga pode ser lido com qualquer chave do mesmo parceiro e ambiente.',
    retry:
      'Não. Antes de reenviar um pagamento ou uma transferência com outra chave, procure-o pela `idempotency_key`: as chaves de idempotência pertencem à chave de API, então com outra chave a mesma ordem seria paga duas vezes. Depois de uma rotação isso não acontece, porque a chave continua a mesma.',
  },
  expired_api_key: {
    what: 'A chave foi criada com um prazo de validade, e esse prazo passou.',
    money: NAO,
    todo: 'Crie uma nova chave no console e programe um lembrete para a validade. Uma rotação não muda a validade.',
    retry:
      'Não. Antes de repetir um pagamento ou uma transferência com outra chave, procure-o pela `idempotency_key`: as chaves de idempotência pertencem à chave de API.',
  },
  ip_not_allowed: {
    what: 'A chave tem uma lista de IPs permitidos, e esta requisição veio de um endereço fora dela. Vale o endereço da conexão. `X-Forwarded-For` só é lido se o operador declarou o seu proxy como confiável.',
    money: NAO,
    todo: 'Inclua na chave, pelo console, o endereço de onde saem as suas requisições, ou chame de um que esteja na lista. A página da chave no console mostra a lista.',
    retry:
      'Só depois de mudar a lista: a mudança vale imediatamente. Até lá cada tentativa conta para o seu endereço.',
  },
  insufficient_scope: {
    what: 'A chave é válida, mas foi criada sem um escopo de que esta chamada precisa. A mensagem diz qual falta. Cada escopo inclui a leitura dos seus próprios objetos, `read` lê tudo, e chamadas que decidem para onde os eventos são enviados precisam de `webhooks` e `read`.',
    money: NAO,
    todo: 'Use uma chave que tenha o escopo, ou crie uma no console. Os escopos de uma chave não podem ser alterados depois.',
    retry: 'Não. A requisição conta nos limites da chave como qualquer outra.',
  },
  sandbox_only: {
    what: 'As chamadas em `/v1/sandbox` criam dinheiro de teste, controlam redes simuladas ou criam eventos de exemplo. Esta chamada foi enviada com uma chave de produção.',
    money: NAO,
    todo: 'Use uma chave que comece com `svc_test_sk_`. Verifique por que uma chave de produção foi parar em um teste.',
    retry: 'Não, não com uma chave de produção.',
  },
  customer_blocked: {
    what: 'O operador do serviço bloqueou este cliente. Pagamentos, transferências, cotações, a execução de cotações, cobranças, novos endereços de depósito e depósitos do sandbox são recusados. A leitura continua funcionando, e o que é pago a um endereço ou a uma cobrança que o cliente já tem é creditado. Seus endpoints receberam `customer.blocked` quando isso aconteceu.',
    money: `${NAO} Pagamentos e transferências aceitos antes do bloqueio seguem até o fim.`,
    todo: 'Fale com o operador. O `status` do cliente volta a ser `active` quando ele é desbloqueado, e o evento `customer.unblocked` avisa.',
    retry:
      'Não antes do desbloqueio. A chave de idempotência não foi consumida: depois você pode enviar a mesma requisição com ela.',
  },
  invalid_json: {
    what: 'O corpo não é um documento JSON em UTF-8. Também são recusados: o mesmo nome duas vezes em um objeto, o nome `__proto__`, um caractere NUL, metade de um par substituto e mais de 32 níveis de aninhamento. A mensagem diz onde a leitura parou.',
    money: NAO,
    todo: 'Gere o corpo com uma biblioteca JSON em vez de concatenar texto. No terminal, confira as aspas em volta das variáveis.',
    retry: 'Não. A chave de idempotência não foi consumida: corrija o corpo e envie com a mesma chave.',
  },
  invalid_request: {
    what: 'Um campo está faltando, tem o tipo ou a forma errada, ou não existe nesta chamada; ou um valor da query ou um cabeçalho é inválido. `param` diz qual. Campos desconhecidos são recusados para que um erro de digitação nunca mude o que uma chamada faz.',
    money: NAO,
    todo: 'Leia `param` e `message` e compare com a página da chamada na referência. Se `param` é `url` e você quer webhooks na sua própria máquina, use `trilho listen`.',
    retry: 'Não. A chave de idempotência não foi consumida: corrija a requisição e envie com a mesma chave.',
  },
  invalid_amount: {
    what: 'O valor não é um texto de 1 a 18 dígitos sem zero à esquerda. Números JSON, zero, sinais, casas decimais, expoentes e espaços são recusados, para que nenhum dígito se perca no caminho.',
    money: NAO,
    todo: 'Envie unidades mínimas inteiras como texto: `"1050"` para R$ 10,50 (2 casas), `"25000000"` para 25 USDT (6), `"100000"` para 0,001 BTC (8).',
    retry: 'Não. A chave de idempotência não foi consumida: corrija o valor e envie com a mesma chave.',
  },
  invalid_pix_key: {
    what: 'O texto não é nenhum dos cinco tipos de chave Pix: um CPF ou CNPJ com dígitos verificadores corretos, só com números ou com toda a pontuação; um e-mail de até 77 caracteres com um ponto no domínio; um telefone com `+55`, DDD e nove dígitos; ou uma chave aleatória (um UUID com hifens).',
    money: NAO,
    todo: 'Peça a chave de novo ao recebedor. Telefones precisam de `+55`; sem isso, onze dígitos são lidos como CPF.',
    retry: 'Não. A chave de idempotência não foi consumida: corrija a chave Pix e envie com a mesma chave.',
  },
  invalid_address: {
    what: 'O endereço de destino não passa em uma verificação da sua rede: o formato ou o checksum está errado, ou o dinheiro enviado se perderia, como no endereço zero ou no contrato do token. A mensagem diz qual é o caso.',
    money: NAO,
    todo: 'Confira primeiro a rede, depois copie o endereço de novo em vez de digitá-lo. Um endereço no estilo Ethereum com letras maiúsculas precisa ter exatamente as maiúsculas do seu checksum.',
    retry: 'Não. A chave de idempotência não foi consumida: corrija o endereço e envie com a mesma chave.',
  },
  unsupported_network: {
    what: 'Este ativo não circula nesta rede. USDT circula em `polygon`, `arbitrum`, `optimism`, `tron` e `ethereum`; BTC em `bitcoin`.',
    money: NAO,
    todo: 'Pergunte ao recebedor de que rede é o endereço. O mesmo endereço pode ser válido em várias redes, então não adivinhe.',
    retry: 'Não. A chave de idempotência não foi consumida: corrija a rede e envie com a mesma chave.',
  },
  route_not_found: {
    what: 'O caminho não faz parte da API. Os caminhos começam com `/v1` e não terminam em barra. Um nó com o papel `worker` responde assim a todas as chamadas.',
    money: NAO,
    todo: 'Compare o caminho com a referência. Se todos os caminhos respondem assim, você está chamando um nó worker: o operador deve colocar atrás do endereço só nós com o papel `api` ou `all`.',
    retry: 'Não.',
  },
  customer_not_found: ausente(
    { um: 'Um cliente', nenhum: 'nenhum cliente' },
    {
      todo: 'Confira o id, e se a chave é do ambiente em que o cliente foi criado. `GET /v1/customers?external_id=…` encontra um cliente pelo seu próprio id.',
      money: `${NAO} A chave de idempotência não foi consumida.`,
    },
  ),
  deposit_not_found: ausente(
    { um: 'Um depósito', nenhum: 'nenhum depósito' },
    {
      todo: 'Confira o id e o ambiente da chave. `GET /v1/deposits?customer_id=…` lista o que entrou.',
    },
  ),
  payout_not_found: ausente(
    { um: 'Um pagamento', nenhum: 'nenhum pagamento' },
    {
      todo: 'Confira o id e o ambiente da chave. `GET /v1/pix/payouts?idempotency_key=…` encontra um pagamento pela sua própria chave: uma lista vazia significa que nenhum foi aceito com ela.',
      money:
        'Esta requisição não moveu dinheiro. Se você procura um pagamento cuja resposta não chegou, procure-o pela `idempotency_key` antes de concluir que ele não existe.',
    },
  ),
  charge_not_found: ausente(
    { um: 'Uma cobrança', nenhum: 'nenhuma cobrança' },
    {
      todo: 'Confira o id e o ambiente da chave. `GET /v1/pix/charges?idempotency_key=…` encontra uma cobrança pela sua própria chave.',
    },
  ),
  transfer_not_found: ausente(
    { um: 'Uma transferência', nenhum: 'nenhuma transferência' },
    {
      todo: 'Confira o id e o ambiente da chave. `GET /v1/onchain/transfers?idempotency_key=…` encontra uma transferência pela sua própria chave, `?tx_hash=…` pela transação.',
      money:
        'Esta requisição não moveu dinheiro. Se você procura uma transferência cuja resposta não chegou, procure-a pela `idempotency_key` antes de concluir que ela não existe.',
    },
  ),
  quote_not_found: ausente(
    { um: 'Uma cotação', nenhum: 'nenhuma cotação' },
    {
      todo: 'Confira o id e o ambiente da chave. Uma cotação que não foi executada é apagada 30 dias depois de expirar, salvo outra escolha do operador; nesse caso, crie uma nova.',
    },
  ),
  trade_not_found: ausente(
    { um: 'Uma conversão', nenhum: 'nenhuma conversão' },
    {
      todo: 'Confira o id e o ambiente da chave. `GET /v1/trades?quote_id=…` encontra a conversão de uma cotação.',
    },
  ),
  event_not_found: ausente(
    { um: 'Um evento', nenhum: 'nenhum evento' },
    {
      todo: 'Confira o id e o ambiente da chave. Eventos ficam guardados por um ano, salvo outra escolha do operador. Leia o registro a partir de `GET /v1/events?after=start`, ou leia os próprios objetos.',
    },
  ),
  webhook_endpoint_not_found: ausente(
    { um: 'Um endpoint de webhook', nenhum: 'nenhum endpoint de webhook' },
    {
      todo: 'Confira o id e o ambiente da chave: sandbox e produção têm cada um os seus endpoints. `GET /v1/webhook_endpoints` lista todos. Um endpoint apagado não volta.',
    },
  ),
  request_not_found: ausente(
    { um: 'Uma requisição', nenhum: 'nenhuma requisição' },
    {
      todo: 'Confira o id: ele é o `X-Request-Id` de uma resposta. O registro tem cerca de um segundo de atraso, guarda 30 dias salvo outra escolha do operador, não tem requisições sem uma chave válida e, com um volume muito alto, guarda só parte das requisições.',
    },
  ),
  method_not_allowed: {
    what: 'O caminho existe, mas não com este método HTTP.',
    money: NAO,
    todo: 'O cabeçalho `Allow` da resposta lista os métodos que o caminho aceita. Um redirecionamento de http para https costuma transformar um POST em GET: chame o endereço https diretamente.',
    retry: 'Não.',
  },
  quote_expired: {
    what: 'A cotação não foi executada antes do seu `expires_at`, 30 segundos depois de criada. Vale o relógio do banco de dados no momento em que a requisição é processada.',
    money: 'Nenhum dinheiro se moveu, e esta cotação não pode mais mover nenhum.',
    todo: 'Crie uma nova cotação, mostre o preço se uma pessoa precisa concordar com ele, e execute a nova cotação.',
    retry:
      'Não. A mesma cotação não volta a funcionar. Se você recebeu este erro ao repetir a chamada depois de uma resposta perdida, a primeira chamada também não converteu nada.',
  },
  idempotency_conflict: {
    what: 'Uma requisição anterior desta chave de API usou a mesma `idempotency_key` para o mesmo tipo de operação com outro corpo. Só a ordem dos campos e os espaços em branco podem ser diferentes.',
    money: 'Esta requisição não moveu dinheiro. A anterior continua como estava.',
    todo: 'Se é uma nova tentativa, envie o corpo exatamente como foi da primeira vez: guarde-o junto com a chave. Se é uma nova operação, use uma nova chave. `GET /v1/pix/payouts?idempotency_key=…` ou `/v1/onchain/transfers?idempotency_key=…` mostra a que a chave se refere.',
    retry: 'Não, não com este corpo e esta chave.',
  },
  already_final: {
    what: 'A chamada mudaria um objeto em estado final: um pagamento ou uma transferência que foi concluída, confirmada ou falhou, ou uma cotação já executada. No sandbox, repetir a chamada que encerrou o objeto não é erro.',
    money: 'Esta requisição não moveu dinheiro. O status do objeto diz o que aconteceu.',
    todo: 'Leia o objeto: `status` e `failure` dizem como terminou. Para testar o outro resultado no sandbox, crie um novo objeto.',
    retry: 'Não. Um estado final nunca muda.',
  },
  receipt_not_available: {
    what: 'O comprovante diz que o dinheiro chegou: só existe para um pagamento `completed` ou uma transferência `confirmed`. Este objeto ainda está a caminho, ou falhou.',
    money:
      'Esta requisição não moveu dinheiro. O status do pagamento ou da transferência diz o que aconteceu.',
    todo: 'Leia o objeto. Enquanto estiver `pending` ou `processing`, espere o evento `pix.payout.completed` ou `onchain.transfer.confirmed` e depois baixe o comprovante. O que falhou nunca tem comprovante: o valor voltou ao saldo.',
    retry: 'Sim, assim que o pagamento for concluído ou a transferência confirmada.',
  },
  webhook_endpoint_disabled: {
    what: 'A chamada enviaria algo a um endpoint desativado. O `disabled_reason` do endpoint diz o motivo: `by_request`, `gone` (seu servidor respondeu 410) ou `failing` (todas as tentativas falharam durante cinco dias).',
    money: NAO,
    todo: 'Conserte o seu servidor, depois faça `PATCH` no endpoint com `{"status": "enabled"}` e peça com `redeliver` os eventos perdidos. Nenhum evento se perde: todos ficam no registro.',
    retry: 'Sim, assim que o endpoint estiver ativado.',
  },
  too_many_webhook_endpoints: {
    what: 'Já existem 20 endpoints de webhook neste ambiente, que é o máximo.',
    money: NAO,
    todo: 'Apague um que não é mais necessário, ou faça um endpoint receber mais tipos de evento: `["*"]` são todos os tipos.',
    retry: 'Só depois de apagar um.',
  },
  customer_exists: {
    what: 'Já existe neste ambiente um cliente seu com este documento ou este `external_id`. `param` diz qual dos dois já existe, `details.customer_id` em qual cliente.',
    money: NAO,
    todo: 'Use o cliente indicado em `details.customer_id`. Depois de uma resposta perdida, isto significa que a primeira chamada funcionou.',
    retry: 'Não. A resposta é a mesma, com o mesmo id.',
  },
  body_too_large: {
    what: 'O corpo é maior que 64 KiB.',
    money: NAO,
    todo: 'Envie menos: nenhuma chamada precisa de mais que alguns kilobytes. `metadata` grande deve ficar no seu próprio banco de dados, com o id do cliente.',
    retry: 'Não. A chave de idempotência não foi consumida.',
  },
  unsupported_media_type: {
    what: 'O corpo não veio como `Content-Type: application/json` em UTF-8, ou veio comprimido.',
    money: NAO,
    todo: "Defina o cabeçalho. `curl -d` sozinho envia um formulário: acrescente `-H 'Content-Type: application/json'`. Não use `Content-Encoding`.",
    retry: 'Não. A chave de idempotência não foi consumida: corrija o cabeçalho e envie com a mesma chave.',
  },
  request_timeout: {
    what: 'Os cabeçalhos não chegaram em 10 segundos, ou a requisição inteira não chegou em 15. A conexão é fechada.',
    money: `${NAO} Uma requisição só é processada depois de chegar inteira.`,
    todo: 'Verifique a rede entre você e o servidor, e programas que abrem uma conexão muito antes de escrever nela.',
    retry: 'Sim, em uma nova conexão, com a mesma chave de idempotência.',
  },
  headers_too_large: {
    what: 'A linha da requisição e os cabeçalhos juntos passam de 16 KiB. A conexão é fechada.',
    money: NAO,
    todo: 'Envie menos cabeçalhos, ou mais curtos. As causas comuns são cookies e cabeçalhos de rastreamento que um proxy acrescenta, ou uma query muito longa.',
    retry: 'Não, não com os mesmos cabeçalhos.',
  },
  insufficient_balance: {
    what: 'O saldo disponível do cliente é menor que o valor desta operação com a tarifa. `details` traz `asset`, `needed` e `available` em unidades mínimas. Dinheiro em trânsito não está disponível.',
    money: `${NAO} Uma cotação que não pôde ser executada fica como está até expirar.`,
    todo: 'Credite o cliente ou envie menos. `GET /v1/customers/{customer_id}/balances` mostra o saldo, e uma chamada com `?dry_run=true` diz antes se ele é suficiente.',
    retry:
      'Com uma nova chave de idempotência. Esta recusa fica guardada sob a sua chave por 24 horas: a mesma chave a recebe de novo, mesmo que depois haja saldo. Executar uma cotação não usa chave: credite o cliente e execute-a de novo antes que expire.',
  },
  pix_key_not_found: {
    what: 'A chave Pix está bem formada, mas nenhuma conta está registrada com ela.',
    money: NAO,
    todo: 'Peça a chave certa ao recebedor. `GET /v1/pix/keys/{pix_key}` verifica uma chave sem pagar; conta como consulta, e uma chave de API tem 20 por minuto.',
    retry:
      'Com uma nova chave de idempotência, depois que o dono registrar a chave Pix. Esta recusa fica guardada sob a sua chave por 24 horas.',
  },
  counterparty_not_allowed: {
    what: 'Pagamentos vão para contas com o documento do próprio cliente, e este recebedor tem outro. Com `param: counterparty.document`, a chave Pix pertence a um documento diferente do que você enviou.',
    money: NAO,
    todo: 'Pague para uma chave ou conta do próprio cliente. Pagar a terceiros exige um acordo com o operador: o `third_party_payouts` do cliente diz se existe um. Se você enviou um documento, confirme com o recebedor: a chave pode ser de outra pessoa.',
    retry:
      'Com uma nova chave de idempotência, depois que o operador fizer um acordo. Esta recusa fica guardada sob a sua chave por 24 horas.',
  },
  unsupported_pair: {
    what: '`from_asset` e `to_asset` são iguais. Uma conversão precisa de dois ativos diferentes entre BRL, USDT e BTC.',
    money: NAO,
    todo: 'Escolha outro `to_asset`.',
    retry: 'Não.',
  },
  amount_too_small: {
    what: 'Depois de tarifas e arredondamento não sobraria nada para converter.',
    money: NAO,
    todo: 'Converta um valor maior. Um centavo, por exemplo, é todo consumido pela tarifa.',
    retry: 'Não, não com este valor.',
  },
  amount_too_large: {
    what: 'Um saldo somado ao dinheiro em trânsito, ou um valor com a sua tarifa, passaria do máximo de 999999999999999999 unidades mínimas. Ou o operador limitou o valor de um pagamento ou transferência nesta rede, ou uma cobrança pede mais do que um código Pix comporta; a mensagem então diz o limite.',
    money: `${NAO} Uma cotação que não pôde ser executada fica como está até expirar.`,
    todo: 'Envie um valor menor. No sandbox, crie outro cliente.',
    retry:
      'Com outro valor e, para um pagamento, transferência ou cobrança, com uma nova chave de idempotência: esta recusa fica guardada sob a sua chave por 24 horas.',
  },
  limit_exceeded: {
    what: 'O operador limitou quanto dinheiro pode sair deste cliente: em uma ordem, em um dia ou em uma noite (das 20h às 6h). Dias e noites são os de São Paulo. `details` diz qual limite foi (`limit`, `asset`), quanto ele permite (`allowed`), quanto disso já foi usado (`used`) e quando recomeça (`resets_at`, nulo para o limite de uma única ordem). Os valores são sem tarifas.',
    money: NAO,
    todo: 'Envie menos, envie mais tarde, ou peça outro limite ao operador. Uma ordem que falha depois deixa de contar.',
    retry:
      'Depois de `resets_at`, com uma nova chave de idempotência: esta recusa fica guardada sob a sua chave por 24 horas. O limite de uma única ordem nunca recomeça.',
  },
  rate_limit_exceeded: {
    what: 'Um limite de requisições se esgotou. `details.window` diz qual: `minute`, `day`, `endpoint` (uma chamada com limite próprio), `lookups` (consultas de chaves Pix), `address` (requisições sem chave válida, ou conexões abertas demais) ou `waits` (mais de 20 chamadas com `wait` ao mesmo tempo). Sem `window`, havia requisições suas demais abertas no mesmo momento.',
    money: `${NAO} A requisição foi recusada antes de ser processada e não conta em nenhuma janela.`,
    todo: 'Espere os segundos de `Retry-After`, depois repita, e distribua melhor as requisições. `GET /v1/usage` mostra o que resta. Para acompanhar eventos, espere por eles com `GET /v1/events?after=…&wait=30` em vez de perguntar a cada segundo.',
    retry: 'Sim, depois de `Retry-After` segundos, com a mesma chave de idempotência.',
  },
  too_many_redeliveries: {
    what: 'Uma chave pode fazer dez chamadas de reenvio por minuto, um endpoint pode ter 50.000 entregas pendentes, e só uma chamada de reenvio por endpoint roda por vez. A mensagem diz qual foi o limite.',
    money: `${NAO} Reenviar eventos nunca move dinheiro.`,
    todo: 'Reenvie um intervalo de tempo em vez de eventos avulsos: uma chamada leva até 10.000. Se há entregas pendentes demais, deixe o seu endpoint processá-las primeiro: `GET /v1/webhook_endpoints/{endpoint_id}/deliveries?status=pending` mostra quais são.',
    retry: 'Sim, depois de `Retry-After` segundos.',
  },
  internal_error: {
    what: 'Um bug do serviço. O operador o encontra pelo `request_id`.',
    money: 'Pode ter se movido. Trate o resultado como desconhecido até que uma nova tentativa dê certo.',
    todo: 'Repita a chamada como descrito abaixo. Se o erro persistir, envie o `request_id` ao operador.',
    retry:
      'Sim, com pausas crescentes. Pagamentos e transferências: o mesmo corpo com a mesma chave de idempotência, para que o dinheiro se mova no máximo uma vez. Execução de cotação: de novo, ela converte no máximo uma vez. Depósitos do sandbox creditam a cada chamada: leia antes o extrato.',
  },
  rail_unavailable: {
    what: 'A rede de pagamento de que esta chamada precisa não responde, não está configurada neste ambiente, foi pausada pelo operador ou atingiu o limite de um dia definido pelo operador. O serviço verifica isso antes de aceitar uma ordem. Com uma chave de produção diz também que a carteira do operador não pode pagar o valor agora. Pix e Tron ainda não estão conectados em produção.',
    money: NAO,
    todo: 'Espere e tente de novo. Se o erro persistir, pergunte ao operador se a rede está configurada.',
    retry: 'Sim, depois de `Retry-After` segundos, com a mesma chave de idempotência: ela não foi consumida.',
  },
  price_unavailable: {
    what: 'Não há um preço recente o bastante para cotar este par.',
    money: NAO,
    todo: 'Espere e peça uma cotação de novo; `GET /v1/prices` mostra a idade de cada preço. Se o erro persistir, a fonte de preços do operador está fora do ar ou não foi configurada. No sandbox, a causa é um preço definido com `age_seconds`: defina o preço de novo sem esse campo.',
    retry: 'Sim, depois de `Retry-After` segundos.',
  },
  service_unavailable: {
    what: 'O serviço não pode atender agora: está sobrecarregado, iniciando ou parando, ou não alcança o banco de dados. Também acontece quando o banco de dados cai no momento em que a sua operação é gravada.',
    money:
      'Pode ter se movido, se a requisição move dinheiro. Trate o resultado como desconhecido até que uma nova tentativa dê certo.',
    todo: 'Repita a chamada como descrito abaixo. `GET /readyz` diz quando o servidor voltou.',
    retry:
      'Sim, depois de `Retry-After` segundos. Pagamentos e transferências: o mesmo corpo com a mesma chave de idempotência dá a primeira resposta e nunca paga duas vezes. Execução de cotação: de novo, ela converte no máximo uma vez.',
  },

  not_signed_in: {
    what: 'As chamadas do próprio console precisam de uma sessão, e não há nenhuma, ou ela terminou: depois de 30 minutos sem uso, depois de 12 horas, quando você saiu, e quando a sua senha, papel ou segundo fator mudou. Uma chave de API não funciona nessas chamadas. No terminal significa que este comando exige um operador conectado.',
    money: NAO,
    todo: 'Entre de novo em `/console`; no terminal, com `trilho login`.',
    retry: 'Sim, depois de entrar.',
  },
  wrong_credentials: {
    what: 'O e-mail, a senha ou o código não confere. A resposta não diz qual deles, para que ninguém descubra quem tem conta.',
    money: NAO,
    todo: 'Digite de novo. Um titular da sua equipe pode criar um link para uma nova senha; quem é o único titular pede ao operador.',
    retry:
      'Sim, com os dados certos. Cinco falhas em 15 minutos bloqueiam o e-mail ou o endereço até 15 minutos depois da primeira falha.',
  },
  code_needed: {
    what: 'A senha confere, e esta pessoa tem um segundo fator: para entrar é preciso também o código. `details.of` é `factor`, ou `activation` para o código de ativação do primeiro acesso.',
    money: NAO,
    todo: 'Digite os seis dígitos que o seu aplicativo mostra, ou um dos seus códigos de recuperação.',
    retry: 'Sim, com o código.',
  },
  not_permitted: {
    what: 'O seu papel não permite isto. O guia do console lista o que cada papel pode fazer.',
    money: NAO,
    todo: 'Peça a um colega cujo papel permita, ou peça a um titular que mude o seu papel em Equipe.',
    retry: 'Só depois que o seu papel mudar.',
  },
  proof_needed: {
    what: 'Mudanças em chaves de produção, segredos e usuários, e toda mudança feita por um operador, exigem uma confirmação de identidade dos últimos cinco minutos: um código do segundo fator, ou a senha se você não tem um. `details.with` diz qual.',
    money: NAO,
    todo: 'O console pede essa confirmação: informe, e a mudança continua.',
    retry: 'Sim, com a confirmação.',
  },
  factor_needed: {
    what: 'Chaves de produção e os seus endereços, e tudo o que um operador faz, exigem um segundo fator, e você não tem um.',
    money: NAO,
    todo: 'Configure um no console, no menu com o seu nome: um aplicativo no celular que mostra seis dígitos. Guarde os códigos de recuperação longe do celular.',
    retry: 'Sim, depois de ter um segundo fator.',
  },
  cross_site_request: {
    what: 'Uma mudança no console precisa vir da sua própria página: mesma origem, JSON e o token da sessão em `X-Csrf-Token`. Esta não veio.',
    money: NAO,
    todo: 'Recarregue a página e tente de novo. Programas usam a API com uma chave de API. Se atrás de um proxy toda mudança é recusada, a `PUBLIC_URL` do operador não é o endereço que os navegadores veem.',
    retry: 'Sim, depois de recarregar a página.',
  },
  object_not_found: {
    what: 'O parceiro, o usuário, a proposta, a exceção ou a sessão não existe, ou não neste ambiente.',
    money: NAO,
    todo: 'Confira o id, e se o console mostra sandbox ou produção.',
    retry: 'Não.',
  },
  second_person_needed: {
    what: 'Mover dinheiro manualmente em produção, e alterar operadores, exige dois operadores: um propõe, outro aprova ou rejeita. Ninguém decide sobre a própria proposta.',
    money: NAO,
    todo: 'Peça a outro operador cujo papel possa decidir. O autor pode retirar a proposta. Se ainda não há dois operadores, um admin cria primeiro o segundo.',
    retry: 'Sim, por outro operador.',
  },
  not_possible: {
    what: 'O estado atual não permite esta mudança. A mensagem diz por quê.',
    money: 'Nenhum dinheiro se moveu, e nada foi alterado.',
    todo: 'Leia a mensagem: ela diz o que precisa mudar antes.',
    retry: 'Só depois que isso mudar.',
  },
  key_not_found: {
    what: 'O id não corresponde a nenhuma chave de API da sua equipe neste ambiente. Uma chave revogada continua na lista.',
    money: NAO,
    todo: 'Confira o id, e se o console mostra sandbox ou produção.',
    retry: 'Não.',
  },
  too_many_api_keys: {
    what: 'A sua equipe tem neste ambiente 100 chaves de API que não foram revogadas nem expiraram. Os usuários de uma equipe não podem criar mais que isso.',
    money: NAO,
    todo: 'Revogue as chaves que nenhum programa usa: a lista de chaves mostra quando cada uma foi usada pela última vez. Para trocar o valor de uma chave, faça a rotação. Se precisar de mais chaves, peça ao operador.',
    retry: 'Sim, depois que uma chave for revogada ou expirar.',
  },
  already_done: {
    what: 'O console dá um id a cada formulário, para que um formulário enviado duas vezes crie um só objeto. Este já tinha sido enviado. `details.id` é o objeto que ele criou.',
    money: 'Esta requisição não moveu dinheiro. A primeira teve efeito.',
    todo: 'Abra o objeto `details.id`. Um segredo mostrado naquela hora não aparece de novo: faça a rotação se ninguém o guardou.',
    retry: 'Não. Para criar outro objeto, abra o formulário de novo.',
  },
  user_exists: {
    what: 'Este e-mail já pertence a um usuário. Um e-mail pertence a um usuário e a uma equipe.',
    money: NAO,
    todo: 'Use outro endereço.',
    retry: 'Não, não com este endereço.',
  },
  last_owner: {
    what: 'Uma equipe sempre tem um titular, e este é o único: não pode ser removido nem receber um papel menor.',
    money: NAO,
    todo: 'Torne antes outra pessoa titular.',
    retry: 'Sim, quando houver um segundo titular.',
  },
  factor_exists: {
    what: 'Você já tem um segundo fator; cada usuário tem um.',
    money: NAO,
    todo: 'Para mudar de aparelho, remova antes o que você tem, no menu com o seu nome.',
    retry: 'Sim, depois de remover.',
  },
  link_not_valid: {
    what: 'O link foi usado, substituído por um mais novo ou retirado, ou o seu prazo acabou: um convite vale 72 horas, um link para nova senha vale uma hora. Cada um funciona uma vez.',
    money: NAO,
    todo: 'Peça um novo a um titular da sua equipe.',
    retry: 'Não.',
  },
}
