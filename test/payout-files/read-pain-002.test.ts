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
        { about: 'message', id: 'M1', answer: 'PENDING', reason: null, text: null },
        { about: 'batch', id: 'M1-GBP', answer: 'ACCEPTED', reason: null, text: null },
        { about: 'payment', id: 'A', answer: 'ACCEPTED', reason: null, text: null },
        { about: 'payment', id: 'B', answer: 'REJECTED', reason: 'AC04', text: 'closed account' },
        { about: 'payment', id: 'C', answer: 'PENDING', reason: null, text: null },
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
