/**
 * Example answers of Efí, as its public documentation prints them, from stored copies of these pages. `from` is the page and the heading.
 * None was recorded from a live account. Comments that the pages put into their JSON are left out, and so is what the pages cut with "...".
 */
export type DocumentedEfiAnswer = { readonly from: string; readonly http: number; readonly text: string }

const PAGES = 'https://dev.efipay.com.br/docs/api-pix'
const sending = `${PAGES}/envio-pagamento-pix`
const charging = `${PAGES}/cobrancas-imediatas`
const managing = `${PAGES}/gestao-de-pix`
const notifying = `${PAGES}/webhooks`
const extra = `${PAGES}/endpoints-exclusivos-efi`

const documented = (from: string, http: number, text: string): DocumentedEfiAnswer => ({ from, http, text })

export const sendAnswer = documented(
  `${sending}#requisitar-envio-de-pix`,
  201,
  `{
    "idEnvio": "12453567890123456789",
    "e2eId": "E09089356202011251226APIff82f2e5",
    "valor": "12.31",
    "horario": {
      "solicitacao": "2021-11-25T12:26:42.905Z"
    },
    "status":"EM_PROCESSAMENTO"
}`,
)

/** With the outcome that each of them has. The page prints `valor_invalido` with four messages. */
export const sendErrors = [
  [
    400,
    '{ "nome": "documento_bloqueado", "mensagem": "O documento desta conta tem bloqueios que impedem a emissão" }',
    'refused',
  ],
  [
    400,
    '{ "nome": "chave_invalida", "mensagem": "A chave informada não faz referência à conta Efí autenticada" }',
    'refused',
  ],
  [
    400,
    '{ "nome": "chave_nao_pertence_ao_documento", "mensagem": "O cpf do favorecido é diferente do documento em posse da chave" }',
    'refused',
  ],
  [
    400,
    '{ "nome": "valor_invalido", "mensagem": "Campo valor.original deve ser maior que zero" }',
    'refused',
  ],
  [
    409,
    '{ "nome": "id_envio_duplicado", "mensagem": "O id de envio informado já foi utilizado em outro pagamento" }',
    'accepted',
  ],
  [422, '{ "nome": "pagamento_negado", "mensagem": "Pagamento negado por análises" }', 'refused'],
  [500, '{ "nome": "erro_aplicacao", "mensagem": "Ocorreu um erro ao validar a chave" }', 'unknown'],
] as const

export const sentToKey = documented(
  `${sending}#consultar-pix-enviado-através-do-identificador-da-transação`,
  200,
  `{
    "endToEndId": "E09089356202210251208APIcdbe38b4",
    "idEnvio": "identificadoEnvio123456789",
    "valor": "0.01",
    "chave": "19974764017",
    "status": "REALIZADO",
    "infoPagador": "Segue o pagamento da conta (endpoint pix sent)",
    "horario": {
      "solicitacao": "2022-10-26T09:05:32.000Z",
      "liquidacao": "2022-10-26T09:05:31.000Z"
    },
    "favorecido": {
      "chave": "francisco@meuemail.com",
      "identificacao": {
        "nome": "Francisco da Silva",
        "cpf": "***.456.789-**"
      }
    }
}`,
)

export const sentToAccount = documented(
  `${sending}#consultar-pix-enviado-através-do-identificador-da-transação`,
  200,
  `{
    "endToEndId": "E09089356202210262021APIbh1457fa",
    "idEnvio": "4",
    "valor": "0.01",
    "chave": "19974764017",
    "status": "REALIZADO",
    "infoPagador": "Segue o pagamento da conta (pix.sent dados bancarios)",
    "horario": {
      "solicitacao": "2022-10-26T17:21:19.000Z",
      "liquidacao": "2022-10-26T17:21:18.000Z"
    },
    "favorecido": {
      "contaBanco": {
        "nome": "Francisco da Silva",
        "cpf": "***.456.789-**",
        "agencia": "1",
        "conta": "12345678",
        "tipoConta": "corrente"
      }
    }
}`,
)

export const sentNotFound = documented(
  `${sending}#consultar-pix-enviado-através-do-identificador-da-transação`,
  404,
  `{
    "type": "https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado",
    "title": "Não Encontrado",
    "status": 404,
    "detail": "Pix enviado não encontrado para o idEnvio informado."
}`,
)

export const receivedList = documented(
  `${managing}#consultar-pix-recebidos`,
  200,
  `{
    "parametros": {
      "inicio": "2022-01-01T00:00:00.000Z",
      "fim": "2022-12-31T23:00:00.000Z",
      "paginacao": {
        "paginaAtual": 0,
        "itensPorPagina": 100,
        "quantidadeDePaginas": 2,
        "quantidadeTotalDeItens": 150
      }
    },
    "pix": [
      {
        "endToEndId": "E182361232022110114206014506ed00",
        "txid": "465669b3847d4a30ae14848c5d4d1683",
        "valor": "0.01",
        "chave": "5f84a4c5-c5cb-4599-9f13-7eb4d419dacc",
        "horario": "2022-11-01T14:20:41.425Z"
      },
      {
        "endToEndId": "E18236129202210311159s01f572d8b1",
        "txid": "0002712070000000000000209BONAE2",
        "valor": "5.00",
        "chave": "5f84a4c5-c5cb-4599-9f13-7eb4d419dacc",
        "horario": "2022-10-31T11:59:13.220Z"
      },
      {
        "endToEndId": "E18236126202210091755s13093ea838",
        "txid": "fc9a4386fefdh964b5dbc6c91a8722d5",
        "valor": "0.02",
        "chave": "5f84a4c5-c5cb-4590-9f13-7eb4d419dacc",
        "horario": "2022-10-19T17:56:09.173Z",
        "devolucoes": [
          {
            "id": "fc9a4386fefdh964b5dbc6c91a8722d5",
            "rtrId": "D09089556202210191757eeb3cf6972c",
            "valor": "0.01",
            "horario": {
              "solicitacao": "2022-10-19T17:57:02.000Z",
              "liquidacao": "2022-10-19T17:57:03.000Z"
            },
            "status": "DEVOLVIDO"
          },
          {
            "id": "fc9a4386fefdh964b5dbc6c91a8722d6",
            "rtrId": "D09089356002210191757c95a3620972",
            "valor": "0.01",
            "horario": {
              "solicitacao": "2022-10-19T17:57:33.000Z",
              "liquidacao": "2022-10-19T17:57:35.000Z"
            },
            "status": "DEVOLVIDO"
          }
        ]
      }
    ]
}`,
)

export const receivedPayment = documented(
  `${managing}#consultar-pix`,
  200,
  `{
    "endToEndId": "E12345678202009091221abcdef12345",
    "txid": "cd1fe328c875481285a6f233ae41b662",
    "valor": "100.00",
    "horario": "2020-09-10T13:03:33.902Z",
    "infoPagador": "Reforma da casa",
    "devolucoes": [
      {
        "id": "000AAA111",
        "rtrId": "D12345678202009091000abcde123456",
        "valor": "11.00",
        "horario": {
          "solicitacao": "2020-09-10T13:03:33.902Z"
        },
        "status": "EM_PROCESSAMENTO"
      }
    ]
}`,
)

export const receivedNotFound = documented(
  `${managing}#consultar-pix`,
  400,
  `{
    "nome": "pix_nao_encontrado",
    "mensagem": "Nenhum pix encontrado para o identificador informado"
}`,
)

/** The page masks the code: its currency is 000, its last field has another id, and its check sum is 0000. */
export const chargeAnswer = documented(
  `${charging}#criar-cobrança-imediata-com-txid`,
  201,
  `{
    "calendario": {
      "criacao": "2020-09-09T20:15:00.358Z",
      "expiracao": 3600
    },
    "txid": "7978c0c97ea847e78e8849634473c1f1",
    "revisao": 0,
    "loc": {
      "id": 789,
      "location": "pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25",
      "tipoCob": "cob"
    },
    "location": "pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25",
    "status": "ATIVA",
    "devedor": {
      "cnpj": "12345678000195",
      "nome": "Empresa de Serviços SA"
    },
    "valor": {
      "original": "567.89"
    },
    "chave": "a1f4102e-a446-4a57-bcce-6fa48899c1d1",
    "solicitacaoPagador": "Informar cartão fidelidade",
    "pixCopiaECola": "00020101021226830014BR.GOV.BCB.PIX2561qrcodespix.sejaefi.com.br/v2/41e0badf811a4ce6ad8a80b306821fce5204000053000065802BR5905EFISA6008SAOPAULO60070503***61040000"
}`,
)

export const chargeDuplicate = documented(
  `${charging}#criar-cobrança-imediata-com-txid`,
  409,
  `{
    "nome": "txid_duplicado",
    "mensagem": "Campo txid informado já foi utilizado em outra cobrança"
}`,
)

export const askedCharge = documented(
  `${charging}#consultar-cobrança`,
  200,
  `{
    "status": "ATIVA",
    "calendario": {
      "criacao": "2020-09-09T20:15:00.358Z",
      "expiracao": "3600"
    },
    "location": "pix.example.com/qr/9d36b84f-c70b-478f-b95c-12729b90ca25",
    "txid": "7978c0c97ea847e78e8849634473c1f1",
    "revisao": 1,
    "devedor": {
      "cnpj": "12345678000195",
      "nome": "Empresa de Serviços SA"
    },
    "valor": {
      "original": "567.89"
    },
    "chave": "a1f4102e-a446-4a57-bcce-6fa48899c1d1",
    "solicitacaoPagador": "Informe o número ou identificador do pedido.",
    "pixCopiaECola": "00020101021226830014BR.GOV.BCB.PIX2561qrcodespix.sejaefi.com.br/v2/41e0badf811a4ce6ad8a80b306821fce5204000053000065802BR5905EFISA6008SAOPAULO60070503***61040000"
}`,
)

export const balanceAnswers = [
  documented(
    `${extra}#consultar-saldo-da-conta`,
    200,
    `{
    "saldo": "100.00",
    "bloqueios": {
      "judicial": "0.00",
      "med": "0.00",
      "total": "0.00"
    }
}`,
  ),
  documented(`${extra}#consultar-saldo-da-conta`, 200, '{\n   "saldo": "100.00"\n}'),
] as const

export const webhookAnswer = documented(
  `${notifying}#exibir-informações-do-webhook-pix`,
  200,
  `{
  "webhookUrl": "https://gn-pix-webhook.gerencianet.com.br/webhook/",
  "chave": "40a0932d-1918-4eee-845d-35a2da1690dc",
  "criacao": "2020-11-11T10:15:00.358Z"
}`,
)

/** Bodies that Efí posts, each with what it names. The page closes one object too few in the second one. */
export const notices = [
  {
    from: `${notifying}#recebendo-callbacks`,
    what: 'a payment that came in',
    text: `{
  "pix": [
    {
      "endToEndId": "E1803615022211340s08793XPJ",
      "txid": "fc9a43k6ff384ryP5f41719",
      "chave": "2c3c7441-b91e-4982-3c25-6105581e18ae",
      "valor": "0.01",
      "horario": "2020-12-21T13:40:34.000Z",
      "infoPagador": "pagando o pix",
      "gnExtras": {
        "pagador": {
          "nome": "Consultoria Efi",
          "cnpj": "09089356000118",
          "codigoBanco":"00416968"
        }
      }
    }
  ]
}`,
    names: [{ end_to_end_id: 'E1803615022211340s08793XPJ' }],
  },
  {
    from: `${notifying}#recebendo-callbacks`,
    what: 'a payment that was given back',
    text: `{
  "pix": [
    {
      "endToEndId": "E12345678202009091221syhgfgufg",
      "txid": "c3e0e7a4e7f1469a9f782d3d4999343c",
      "chave": "2c3c7441-b91e-4982-3c25-6105581e18ae",
      "valor": "110.00",
      "horario": "2020-09-09T20:15:00.358Z",
      "infoPagador": "0123456789",
      "devolucoes": [
        {
          "id": "123ABC",
          "rtrId": "D12345678202009091221abcdf098765",
          "valor": "110.00",
          "horario": {
            "solicitacao": "2020-09-09T20:15:00.358Z"
          },
          "status": "DEVOLVIDO"
        }
      ]
    }
  ]
}`,
    names: [{ end_to_end_id: 'E12345678202009091221syhgfgufg' }],
  },
  {
    from: `${notifying}#recebendo-callbacks`,
    what: 'a payment that was sent',
    text: `{
  "pix": [
    {
      "endToEndId": "E090893562021030PIf25a7868",
      "chave": "2c3c7441-b91e-4982-3c25-6105581e18ae",
      "tipo": "SOLICITACAO",
      "status": "REALIZADO",
      "valor": "0.01",
      "horario": "2021-03-04T20:39:47.000Z",
      "gnExtras": {
        "idEnvio": "123ABC"
      }
    }
  ]
}`,
    names: [{ send_id: '123ABC', end_to_end_id: 'E090893562021030PIf25a7868' }],
  },
  {
    from: `${notifying}#recebendo-callbacks`,
    what: 'a payment that was refused',
    text: `{
  "pix": [
    {
      "endToEndId": "E090893562021030PIf25a7868",
      "chave": "2c3c7441-b91e-4982-3c25-6105581e18ae",
      "tipo": "SOLICITACAO",
      "status": "NAO_REALIZADO",
      "valor": "0.01",
      "horario": null,
      "infoPagador": "0123456789",
      "gnExtras": {
        "idEnvio": "123ABC",
        "erro": {
          "codigo": "AC03",
          "origem": "PSP do usuário recebedor",
          "motivo": "Número da agência e/ou conta transacional do usuário recebedor inexistente ou inválido"
        }
      }
    }
  ]
}`,
    names: [{ send_id: '123ABC', end_to_end_id: 'E090893562021030PIf25a7868' }],
  },
] as const
