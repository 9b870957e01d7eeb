/** The checks of the ledger proof in Portuguese, by the name under which the service reports and stores them. */
export const checks: Readonly<Record<string, string>> = {
  'the lines of every movement sum to zero per asset':
    'os lançamentos de cada movimento somam zero por ativo',
  'every asset sums to zero over all accounts': 'cada ativo soma zero entre todas as contas',
  'every balance is the sum of its entries, and counts them': 'cada saldo é a soma dos seus lançamentos',
  'every amount in transit is the sum of its entries': 'cada valor em trânsito é a soma dos seus lançamentos',
  'every statement line follows from the one before it': 'cada linha do extrato decorre da linha anterior',
  'every adjustment is booked once and in full, and nothing is booked without one':
    'cada ajuste é lançado uma vez e por inteiro, e nada é lançado sem ajuste',
  'every deposit is booked once and in full, and nothing is booked without one':
    'cada depósito é lançado uma vez e por inteiro, e nada é lançado sem depósito',
  'every payout is debited once and in full, and ends in exactly one place':
    'cada pagamento Pix é debitado uma vez e por inteiro, e termina em um único lugar',
  'every transfer is debited once and in full, and ends in exactly one place':
    'cada transferência é debitada uma vez e por inteiro, e termina em um único lugar',
  'every completed trade is booked once and as quoted, a failed one not at all':
    'cada conversão concluída é lançada uma vez e como cotada; a que falhou não é lançada',
  'every payment of fees is booked once and in full':
    'cada pagamento de tarifas é lançado uma vez e por inteiro',
  'every entry has a cause of a known kind': 'cada lançamento tem uma causa de tipo conhecido',
  'every amount in transit is the sum of open orders': 'cada valor em trânsito é a soma das ordens abertas',
  'every customer has a partner and one account per asset, and every account has a customer':
    'cada cliente tem um parceiro e uma conta por ativo, e cada conta tem um cliente',
  'every customer equals its last event': 'cada cliente confere com o seu último evento',
  'every API key has an event for its partner': 'cada chave de API tem um evento do seu parceiro',
  'every API key has a partner that is older than the key':
    'cada chave de API tem um parceiro mais antigo do que a chave',
  'every value of an API key has an event for its partner':
    'cada valor de uma chave de API tem um evento do seu parceiro',
  'every deposit is of a known kind, to a customer of its partner':
    'cada depósito é de um tipo conhecido e de um cliente do seu parceiro',
  'no reference credits twice': 'nenhuma referência foi creditada duas vezes',
  'every credit was made under its reference, and every reference stands for one':
    'cada crédito tem a sua referência, e cada referência o seu crédito',
  'every reference of a credit stands for one': 'cada referência de um crédito tem o seu crédito',
  'every deposit is in a state that can be, and only one on a chain was ever anything but credited':
    'cada depósito está em um estado possível, e só um depósito em uma rede esteve em outro estado que não o de creditado',
  'every deposit on a chain came to an address of its customer':
    'cada depósito em uma rede chegou a um endereço do seu cliente',
  'no output of a chain is deposited twice': 'nenhuma saída de uma rede foi creditada duas vezes',
  'every deposit address is of a customer of its partner, which has one index on all networks and shares it with nobody':
    'cada endereço de depósito é de um cliente do seu parceiro, que tem um único índice em todas as redes e não o divide com ninguém',
  'every deposit was told once, as it is': 'cada estado de um depósito tem um evento que confere com ele',
  'every charge is in a state that can be, of a customer and a key of its partner':
    'cada cobrança tem um status possível, e cliente e chave do seu parceiro',
  'every charge has received the sum of its deposits, and is paid when that is its amount':
    'cada cobrança recebeu a soma dos seus depósitos, e está paga quando a soma alcança o valor',
  'no Pix payment is credited by the service and by an operator':
    'nenhum pagamento Pix é creditado pelo serviço e por um operador',
  'no return of a payout is credited by the service and by an operator':
    'nenhuma devolução de um pagamento foi creditada pelo serviço e também por um operador',
  'no payment on a chain is credited by the service and by an operator':
    'nenhum pagamento em uma blockchain é creditado pelo serviço e por um operador',
  'every deposit by Pix is a payment that came in for its charge, as much as was paid':
    'cada depósito por Pix é um pagamento que entrou para a sua cobrança, no valor pago',
  'every payment that came in for a charge is credited, or waits for room in the balance':
    'cada pagamento que entrou para uma cobrança foi creditado ou espera espaço no saldo',
  'no payment without a charge is credited, and none names a charge that does not exist':
    'nenhum pagamento sem cobrança foi creditado, e nenhum cita uma cobrança que não existe',
  'every row of pix_charges has its idempotency record, and the record matches it':
    'cada cobrança tem um registro de idempotência que confere com ela',
  'every idempotency record of pix.charge stands for its result or for a refusal':
    'cada registro de idempotência de pix.charge tem a sua cobrança ou a sua recusa',
  'no two of pix_charges were made under one idempotency key within 24 hours':
    'duas cobranças nunca têm a mesma chave de idempotência em 24 horas',
  'every charge was told at each of its states, as it is':
    'cada estado de uma cobrança tem um evento que confere com ele',
  'every adjustment is to a customer of its partner, and every reversal the exact inverse of its deposit':
    'cada ajuste é de um cliente do seu parceiro, e cada estorno desfaz exatamente o seu depósito',
  'no deposit is reversed twice': 'nenhum depósito foi estornado duas vezes',
  'every adjustment was made under its reference, and every reference stands for one':
    'cada ajuste tem a sua referência, e cada referência o seu ajuste',
  'every reference of a adjustment stands for one': 'cada referência de um ajuste tem o seu ajuste',
  'every payout is in a state that can be, of a customer and a key of its partner':
    'cada pagamento Pix tem um status possível, e cliente e chave do seu parceiro',
  'no two payouts are one payment of the Pix network, or were sent under one id':
    'dois pagamentos Pix nunca têm o mesmo pagamento na rede nem o mesmo id de envio',
  'every payout that is on its way stands in the queue, and no other does':
    'a fila tem exatamente os pagamentos Pix em andamento',
  'every row of payouts has its idempotency record, and the record matches it':
    'cada pagamento Pix tem um registro de idempotência que confere com ele',
  'every idempotency record of pix.payout stands for its result or for a refusal':
    'cada registro de idempotência de pix.payout tem o seu pagamento ou a sua recusa',
  'no two of payouts were made under one idempotency key within 24 hours':
    'dois pagamentos Pix nunca têm a mesma chave de idempotência em 24 horas',
  'every Pix return is booked once and in full, and nothing is booked without one':
    'cada devolução Pix é lançada uma vez e por inteiro, e nada é lançado sem ela',
  'every Pix return is of a payment that was made, to or from its customer, and was booked after it':
    'cada devolução Pix é de um pagamento que foi feito, do seu cliente, e foi lançada depois dele',
  'no return of the Pix network is booked twice': 'nenhuma devolução da rede Pix é lançada duas vezes',
  'what was given back of a deposit is the sum of its booked returns, and all returns are no more than was received':
    'o que foi devolvido de um depósito é a soma das suas devoluções lançadas, e todas nunca passam do que foi recebido',
  'what came back of a payout is the sum of its returns, and no more than was paid':
    'o que voltou de um pagamento Pix é a soma das suas devoluções, e nunca mais do que foi pago',
  'every payout was told at each of its states, as it is':
    'cada pagamento Pix tem um evento que confere para cada status seu',
  'every transfer is in a state that can be, over a network that carries it, of a customer and a key of its partner':
    'cada transferência tem status e rede possíveis, e cliente e chave do seu parceiro',
  'every transfer that has reserved a nonce has the one after its predecessor in its wallet, or after a gap':
    'cada transferência com nonce reservado tem o nonce seguinte ao da anterior na sua carteira',
  'every gap in the nonces of a wallet lies between its transfers, and overlaps no other gap':
    'toda lacuna nos nonces de uma carteira fica entre as suas transferências e não se sobrepõe a outra',
  'every gap in the nonces of a wallet in production was accepted by two operators':
    'toda lacuna nos nonces de uma carteira em produção foi aceita por dois operadores',
  'every custody move is booked once and in full, between the operator and its rail':
    'toda movimentação de custódia é lançada uma vez e por inteiro, entre o operador e o trilho',
  'every custody move is over a rail that carries its asset':
    'toda movimentação de custódia usa um trilho que transporta o ativo',
  'every custody move in production was proposed by one operator and approved by another':
    'toda movimentação de custódia em produção foi proposta por um operador e aprovada por outro',
  'every custody move was made under its reference, and every reference stands for one':
    'toda movimentação de custódia foi feita sob a sua referência, e cada referência corresponde a uma',
  'every reference of a custody move stands for one':
    'toda referência de movimentação de custódia corresponde a uma',
  'every wallet has given its nonces, up to the last one, to transfers and gaps':
    'cada carteira deu todos os seus nonces a transferências',
  'every transaction belongs to a transfer, which shows one of its payments and ends by at most one of them':
    'cada transação pertence a uma transferência, que mostra um dos seus pagamentos e termina por no máximo um',
  'every transfer that spends coins has reserved them, and all its transactions spend exactly these':
    'cada transferência que gasta moedas as reservou, e todas as suas transações gastam exatamente essas',
  'every coin is what the stored blocks and transactions say of it':
    'cada moeda confere com os blocos e as transações guardados',
  'every coin at a deposit address has its script, and the deposit that follows from it':
    'cada moeda num endereço de depósito tem o script dele e o depósito correspondente',
  'every deposit on bitcoin in production is an output that the service found in a block':
    'cada depósito em bitcoin na produção é uma saída que o serviço encontrou num bloco',
  'every stored block is the child of the one below it': 'cada bloco guardado é filho do bloco anterior',
  'every sweep is of a deposit address, in a state that can be, and one that is in the chain has exactly one block':
    'todo recolhimento é de um endereço de depósito, em um estado possível, e um que está na blockchain tem exatamente um bloco',
  'all transactions of a sweep that have one purpose spend the nonce that was reserved for it, no two are the same, and their attempts have no gap':
    'todas as transações de um recolhimento com a mesma finalidade gastam o nonce reservado para ela, não há duas iguais, e as tentativas não têm lacuna',
  'no address is swept twice at a time, and no nonce of the gas account is given to two sweeps':
    'nenhum endereço é recolhido duas vezes ao mesmo tempo, e nenhum nonce da conta de gás é dado a dois recolhimentos',
  'no payment on tron was signed, and no money given back, while an earlier payment of the transfer could still be mined':
    'nenhum pagamento na Tron foi assinado, e nenhum valor estornado, enquanto um pagamento anterior da transferência ainda podia ser minerado',
  'every draft on tron belongs to a transfer that has reserved, and is what the service drafts':
    'cada rascunho na Tron é de uma transferência que já tem um número, e é o que o serviço prepara',
  'every foreign transaction that pays from the wallet on tron is none of the service':
    'nenhuma transação externa que paga da carteira na Tron é do serviço',
  'every foreign transaction that spends coins is none of the service':
    'cada transação estranha que gasta moedas não é do serviço',
  'no two transfers are one transaction of their network': 'duas transferências nunca são a mesma transação',
  'every transfer that is on its way stands in the queue, and no other does':
    'a fila tem exatamente as transferências em andamento',
  'every row of transfers has its idempotency record, and the record matches it':
    'cada transferência tem um registro de idempotência que confere com ela',
  'every idempotency record of onchain.transfer stands for its result or for a refusal':
    'cada registro de idempotência de onchain.transfer tem a sua transferência ou a sua recusa',
  'no two of transfers were made under one idempotency key within 24 hours':
    'duas transferências nunca têm a mesma chave de idempotência em 24 horas',
  'every transfer was told at each of its states, as it is':
    'cada transferência tem um evento que confere para cada status seu',
  'every trade has its quote, with the same terms, and every executed quote its trade':
    'cada conversão tem a sua cotação, nas mesmas condições, e cada cotação executada a sua conversão',
  'no quote was executed twice': 'nenhuma cotação foi executada duas vezes',
  'every trade comes to what its price and its fees make of it':
    'cada conversão tem os valores que decorrem do preço e das tarifas',
  'every trade was told once, as it is': 'cada conversão tem um evento que confere com ela',
  'the sums of the treasury and of the partners’ fees are those of their entries':
    'as somas da tesouraria e das tarifas dos parceiros são as dos seus lançamentos',
  'only completed trades wait to be folded':
    'só conversões concluídas aguardam entrar nos totais da tesouraria',
  'every completed trade was folded, or waits to be':
    'cada conversão concluída está nos totais da tesouraria ou aguarda entrar',
  'every payment of fees is to a partner, or a customer of it':
    'cada pagamento de tarifas vai a um parceiro ou a um cliente dele',
  'every payment of fees was told': 'cada pagamento de tarifas tem um evento',
  'no reference pays fees twice': 'nenhuma referência pagou tarifas duas vezes',
  'every payment of fees was made under its reference, and every reference stands for one':
    'cada pagamento de tarifas tem a sua referência, e cada referência o seu pagamento',
  'every reference of a payment of fees stands for one':
    'cada referência de um pagamento de tarifas tem o seu pagamento',
  'every payment of fees was told once, as it is':
    'cada pagamento de tarifas tem um evento que confere com ele',
  'every position has the amount, the cost and the result that its trades make':
    'cada posição da tesouraria tem o valor, o custo e o resultado que decorrem das suas conversões',
  'every credit in production was proposed by one operator and approved by another':
    'cada crédito em produção foi proposto por um operador e aprovado por outro',
  'every debit in production was proposed by one operator and approved by another':
    'cada débito em produção foi proposto por um operador e aprovado por outro',
  'every reversal in production was proposed by one operator and approved by another':
    'cada estorno em produção foi proposto por um operador e aprovado por outro',
  'the pause and the limits of every rail are those of its last change':
    'a pausa e os limites de cada trilho são os da sua última alteração',
  'every change of a rail begins where the one before it ended, and a pause names who and why':
    'cada alteração de um trilho continua a anterior, e cada pausa diz quem e por quê',
  'every resume of a rail in production was proposed by one operator and approved by another':
    'cada retomada de um trilho em produção foi proposta por um operador e aprovada por outro',
  'every payment of fees in production was proposed by one operator and approved by another':
    'cada pagamento de tarifas em produção foi proposto por um operador e aprovado por outro',
  'every resolution in production was proposed by one operator and approved by another':
    'cada resolução em produção foi proposta por um operador e aprovada por outro',
  'every event has its place in the log soon after it was written':
    'cada evento recebe a sua posição no registro logo depois de escrito',
  'every event is about an object of the kind that its type names':
    'cada evento trata de um objeto do tipo que ele nomeia',
  'every delivery is of an event to an endpoint of the same partner':
    'cada entrega leva um evento a um endpoint do mesmo parceiro',
  'every delivered delivery has a 2xx response': 'cada entrega marcada como entregue teve uma resposta 2xx',
  'every refusal whose idempotency key is in force is stored as it was returned':
    'cada recusa com chave de idempotência em vigor está guardada como foi devolvida',
  'every hold has an open proposal, and every open proposal about a payout or transfer has a hold':
    'cada retenção tem uma proposta aberta, e cada proposta aberta sobre um pagamento ou transferência tem a sua retenção',
  'every cancel of a transfer in production was proposed by one operator and approved by another':
    'cada cancelamento de transferência em produção foi proposto por um operador e aprovado por outro',
  'every resolution agrees with its payout or transfer, and every end by an operator has one':
    'cada resolução confere com o seu pagamento ou transferência, e todo fim dado por um operador tem uma',
  'every follow-up belongs to a resolution, a payout that was never sent or a mined transfer, and every repeated send to a payout or transfer':
    'cada acompanhamento é de uma resolução, de um pagamento que nunca foi enviado ou de uma transferência minerada, e cada reenvio é de um pagamento ou transferência',
  'nothing that happened is dated in the future': 'nada do que aconteceu tem data no futuro',
  'no event has a position in the future': 'nenhum evento tem posição no futuro',
  'no customer was created in the future': 'nenhum cliente foi criado no futuro',
  'no idempotency record is dated in the future': 'nenhum registro de idempotência tem data no futuro',
  'no proof, exception or request is dated in the future':
    'nenhuma prova, exceção ou chamada tem data no futuro',
  'no event was deleted before its retention ended':
    'nenhum evento foi apagado antes do fim do prazo de guarda',
  'nothing open is postponed for longer than two days': 'nada em aberto está adiado por mais de dois dias',
  'no delivery is postponed for longer than two days': 'nenhuma entrega está adiada por mais de dois dias',
  'the background audit is not postponed': 'a auditoria em segundo plano não está adiada',
  'every balance equals balance_after of its last statement line':
    'cada saldo é igual ao saldo da sua última linha do extrato',
  'every statement line continues the line before it, and its account counts it':
    'cada linha do extrato continua a linha anterior, e a sua conta a inclui',
  'every act of a person is a line of an unbroken log':
    'cada ação de uma pessoa está no registro de auditoria, e a cadeia está íntegra',
  'limits, keys, blocks and arrangements match the audit log':
    'limites, chaves, bloqueios e permissões conferem com o registro de auditoria',
}
