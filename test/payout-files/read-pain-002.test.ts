import t from 'tap'
import { readPain002 } from '../../src/payout-files/read-pain-002.ts'

const answer = (inner: string, version = '10'): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}">
  <CstmrPmtStsRpt><GrpHdr><MsgId>BANK-1</MsgId><CreDtTm>2026-11-23T08:00:00Z</CreDtTm></GrpHdr>${inner}</CstmrPmtStsRpt></Document>`

const group = (inner = ''): string =>
  `<OrgnlGrpInfAndSts><OrgnlMsgId>M1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${inner}</OrgnlGrpInfAndSts>`

const batch = (inner: string): string =>
  `<OrgnlPmtInfAndSts><OrgnlPmtInfId>M1-GBP</OrgnlPmtInfId>${inner}</OrgnlPmtInfAndSts>`

const reason = (code: string, text = ''): string =>
  `<StsRsnInf><Rsn><Cd>${code}</Cd></Rsn>${text === '' ? '' : `<AddtlInf>${text}</AddtlInf>`}</StsRsnInf>`

const item = (id: string, status: string, more = ''): string =>
  `<TxInfAndSts><StsId>S</StsId><OrgnlInstrId>${id}</OrgnlInstrId><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${status}</TxSts>${more}</TxInfAndSts>`

t.test('a bank answers to the whole message, to a batch, or to each payment, in either version', async (t) => {
  const none = { reason: null, text: null }
  for (const version of ['03', '10']) {
    const report = readPain002(
      answer(
        group('<GrpSts>PART</GrpSts>') +
          batch(
            `<PmtInfSts>ACTC</PmtInfSts>${item('A', 'ACSC')}${item('B', 'RJCT', reason('AC04', 'closed  account'))}${item('C', 'PDNG')}`,
          ),
        version,
      ),
    )
    t.same(report, {
      messageId: 'M1',
      statuses: [
        { about: 'message', id: 'M1', causedAt: 'message', answer: 'PENDING', ...none },
        { about: 'batch', id: 'M1-GBP', causedAt: 'batch', answer: 'ACCEPTED', ...none },
        { about: 'payment', id: 'A', causedAt: 'payment', answer: 'ACCEPTED', ...none },
        {
          about: 'payment',
          id: 'B',
          causedAt: 'payment',
          answer: 'REJECTED',
          reason: 'AC04',
          text: 'closed account',
        },
        { about: 'payment', id: 'C', causedAt: 'payment', answer: 'PENDING', ...none },
      ],
    })
  }
  const rejected = readPain002(answer(group(`<GrpSts>RJCT</GrpSts>${reason('FF01')}`)))
  t.match(rejected.statuses, [{ about: 'message', answer: 'REJECTED', reason: 'FF01' }])
  const ofBank = '<StsRsnInf><Rsn><Prtry>X9</Prtry></Rsn></StsRsnInf>'
  t.match(readPain002(answer(group() + batch(`<PmtInfSts>RJCT</PmtInfSts>${ofBank}`))).statuses, [
    { about: 'batch', answer: 'REJECTED', reason: 'X9' },
  ])
})

t.test('every status that a bank may send has its meaning', async (t) => {
  const statuses = [
    'ACCC',
    'ACCP',
    'ACFC',
    'ACSC',
    'ACSP',
    'ACTC',
    'ACWC',
    'ACWP',
    'CANC',
    'PATC',
    'PDNG',
    'RCVD',
    'RJCT',
  ]
  const report = readPain002(answer(group() + batch(statuses.map((status) => item(status, status)).join(''))))
  t.same(
    Object.groupBy(report.statuses, ({ answer }) => answer).REJECTED?.map(({ id }) => id),
    ['CANC', 'RJCT'],
  )
  t.same(
    Object.groupBy(report.statuses, ({ answer }) => answer).PENDING?.map(({ id }) => id),
    ['PATC', 'PDNG', 'RCVD'],
  )
  t.equal(report.statuses.length, statuses.length)
})

t.test('a copy that the bank rejects says nothing of the payment itself', async (t) => {
  const copied = readPain002(
    answer(group(`<GrpSts>RJCT</GrpSts>${reason('DU01')}`) + batch(item('A', 'RJCT', reason('AM05')))),
  )
  t.match(copied.statuses, [{ answer: 'DUPLICATE' }, { answer: 'DUPLICATE', reason: 'AM05' }])
})

t.test('a rejection without a reason is caused where the reason is, or where all is rejected', async (t) => {
  const above = (status: string, code: string) => group(`<GrpSts>${status}</GrpSts>${reason(code, 'see above')}`)
  const bare = item('A', 'RJCT')
  const batchOf = (status: string, more = '') => batch(`<PmtInfSts>${status}</PmtInfSts>${more}${bare}`)
  const payment = (content: string) => readPain002(answer(content)).statuses.find(({ id }) => id === 'A')
  for (const [content, expected] of [
    [above('RJCT', 'AM05') + batch(bare), { answer: 'DUPLICATE', reason: 'AM05', text: 'see above' }],
    [above('RJCT', 'AM05') + batch(item('A', 'RJCT', reason('AC04'))), { answer: 'DUPLICATE', reason: 'AC04' }],
    [above('RJCT', 'AM05') + batchOf('RJCT'), { answer: 'DUPLICATE', reason: 'AM05', causedAt: 'message' }],
    [above('PART', 'DU01') + batch(bare), { answer: 'DUPLICATE', reason: 'DU01' }],
    [group(reason('DU01')) + batch(bare), { answer: 'DUPLICATE', reason: 'DU01' }],
    [group() + batch(reason('DU03') + bare), { answer: 'DUPLICATE', reason: 'DU03', causedAt: 'batch' }],
    [above('RJCT', 'FF01') + batchOf('RJCT', reason('AC04')), { reason: 'AC04', causedAt: 'batch' }],
    [above('RJCT', 'FF01') + batch(bare), { answer: 'REJECTED', reason: 'FF01', causedAt: 'message' }],
    [group('<GrpSts>RJCT</GrpSts>') + batch(bare), { answer: 'REJECTED', reason: null, causedAt: 'message' }],
    [above('RJCT', 'FF01') + batch(item('A', 'RJCT', reason('AC04'))), { reason: 'AC04', causedAt: 'payment' }],
    [group('<GrpSts>PART</GrpSts>') + batch(bare), { answer: 'REJECTED', reason: null, causedAt: 'payment' }],
    [above('PART', 'NARR') + batch(bare), { answer: 'REJECTED', reason: null, text: null, causedAt: 'payment' }],
    [group() + batchOf('ACTC', reason('NARR')), { answer: 'REJECTED', reason: null, causedAt: 'payment' }],
    [above('RJCT', 'FF01') + batchOf('PDNG', reason('NARR')), { reason: 'FF01', causedAt: 'message' }],
    [above('PART', 'DU01') + batchOf('ACTC', reason('NARR')), { answer: 'DUPLICATE', causedAt: 'message' }],
    [above('RJCT', 'AM05') + batch(item('A', 'ACSP')), { answer: 'ACCEPTED', reason: null, causedAt: 'payment' }],
    [group() + batch(item('A', 'RJCT', reason('NARR', 'why') + reason('DU01'))), { answer: 'DUPLICATE', text: 'why' }],
    [group() + batch(item('A', 'RJCT', reason('NARR') + reason('AC04'))), { answer: 'REJECTED', reason: 'AC04' }],
    [group() + batch(item('A', 'RJCT', reason('MS03') + reason('AC04'))), { answer: 'REJECTED', reason: 'MS03' }],
    [group() + batch(item('A', 'RJCT', reason('NARR', 'why'))), { answer: 'REJECTED', reason: 'NARR' }],
  ] as const)
    t.match(payment(content), expected, JSON.stringify(expected))
})

t.test('a bank that writes a prefix, or leaves ids and statuses out where it may, is understood', async (t) => {
  const prefixed = answer(group() + batch(item('A', 'ACSP')))
    .replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:')
    .replace('xmlns=', 'xmlns:p=')
  t.match(readPain002(prefixed), { messageId: 'M1', statuses: [{ id: 'A', answer: 'ACCEPTED' }] })
  const byInstruction = '<TxInfAndSts><OrgnlInstrId>A</OrgnlInstrId><TxSts>ACSP</TxSts></TxInfAndSts><TxInfAndSts/>'
  t.match(readPain002(answer(group() + batch(byInstruction))).statuses, [{ id: 'A', answer: 'ACCEPTED' }])
})

t.test('a file that attacks, or is no answer, is refused with its place', async (t) => {
  for (const [content, message] of [
    ['<!DOCTYPE Document [<!ENTITY x "y">]><Document/>', /document type/],
    [answer(group('<GrpSts>OKAY</GrpSts>')), /message "M1": unknown status "OKAY"/],
    [answer(group('<GrpSts>constructor</GrpSts>')), /unknown status/],
    [answer(batch('<TxInfAndSts><TxSts>RJCT</TxSts></TxInfAndSts>')), /names no payment: <OrgnlEndToEndId> is missing/],
    [answer(batch(item('A', 'ACSC'))), /does not name the message that it answers/],
    [answer('<OrgnlGrpInfAndSts><GrpSts>ACCP</GrpSts></OrgnlGrpInfAndSts>'), /<OrgnlMsgId> is missing/],
    [
      '<Document><BkToCstmrStmt><Stmt/></BkToCstmrStmt></Document>',
      /not a pain.002 file: the document has <BkToCstmrStmt>/,
    ],
    ['<Document><CstmrPmtStsRpt><GrpHdr></Document>', /line 1/],
    ['hello', /line 1/],
    [answer(group() + batch(item('A', 'PDNG').repeat(50_001))), /more than 50000 answers/],
  ] as const) {
    t.throws(() => readPain002(content), { message }, content.slice(0, 80))
  }
})
