import t from 'tap'
import { allAt, child, readXml, textAt } from '../../src/lib/read-xml.ts'
import type { Element } from '../../src/lib/read-xml.ts'
import { isoText } from '../../src/payout-files/iso-text.ts'
import { writePain001 } from '../../src/payout-files/write-pain-001.ts'
import type { Batch, Instruction } from '../../src/payout-files/write-pain-001.ts'
import { schemaErrors } from '../support/bank-files.ts'

const OURS = '20000012345678'
const MERCHANT = '20201555555555'
const BERLIN = 'DE89370400440532013000'

function instruction(more: Partial<Instruction> = {}): Instruction {
  return {
    endToEndId: `SVC${'0a'.repeat(16)}`,
    amount: '10.0000',
    creditorName: 'Tea Shop Ltd',
    creditorAccount: MERCHANT,
    remittance: 'Payout 1',
    ...more,
  }
}

const pounds = (instructions: readonly Instruction[]): Batch => ({
  id: 'M1-GBP',
  currency: 'GBP',
  debtorAccount: OURS,
  instructions,
})

function message(batches: readonly Batch[]): string {
  return writePain001({
    id: 'M1',
    createdAt: '2026-11-23T01:02:03.456Z',
    executeOn: '2026-11-23',
    debtorName: 'Payments Ltd',
    batches,
  })
}

/** The message's header and batches, read with the reader of bank files. */
function partsOf(content: string): Element[] {
  const parts: Element[] = []
  readXml(content, 3, (part) => parts.push(part))
  return parts
}

t.test('a message of pounds names accounts by sort code, and is one by the official schema', async (t) => {
  const content = message([pounds([instruction(), instruction({ endToEndId: 'SVC2', amount: '0.0100' })])])
  t.same(await schemaErrors('pain.001.001.09', content), [])
  const [header, batch] = partsOf(content)
  if (header === undefined || batch === undefined) return t.fail('has a header and a batch')
  t.match([textAt(header, 'MsgId'), textAt(header, 'NbOfTxs'), textAt(header, 'CtrlSum')], ['M1', '2', '10.01'])
  t.match([textAt(batch, 'NbOfTxs'), textAt(batch, 'CtrlSum')], ['2', '10.01'])
  t.equal(textAt(batch, 'DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'), '200000')
  t.equal(textAt(batch, 'DbtrAcct/Id/Othr/Id'), '12345678')
  const [first] = allAt(batch, 'CdtTrfTxInf')
  if (first === undefined) return t.fail('has a payment')
  t.equal(textAt(first, 'PmtId/EndToEndId'), `SVC${'0a'.repeat(16)}`)
  t.equal(textAt(first, 'CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd'), 'GBDSC')
  t.equal(textAt(first, 'CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'), '202015')
  t.equal(textAt(first, 'CdtrAcct/Id/Othr/Id'), '55555555')
  t.equal(textAt(first, 'RmtInf/Ustrd'), 'Payout 1')
})

t.test('euros go by IBAN as SEPA credit transfers, in a batch and with a sum of their own', async (t) => {
  const euros = [instruction({ endToEndId: 'SVC3', amount: '1250.5000', creditorAccount: BERLIN })]
  const debtorAccount = 'IE29AIBK93115212345678'
  const content = message([
    pounds([instruction()]),
    { id: 'M1-EUR', currency: 'EUR', debtorAccount, instructions: euros },
  ])
  t.same(await schemaErrors('pain.001.001.09', content), [])
  const [header, inPounds, inEuros] = partsOf(content)
  if (header === undefined || inPounds === undefined || inEuros === undefined) return t.fail('has two batches')
  t.match([textAt(header, 'NbOfTxs'), textAt(header, 'CtrlSum')], ['2', '1260.50'])
  t.match([textAt(inPounds, 'CtrlSum'), textAt(inEuros, 'CtrlSum')], ['10.00', '1250.50'])
  t.equal(textAt(inEuros, 'PmtTpInf/SvcLvl/Cd'), 'SEPA')
  t.equal(textAt(inEuros, 'ChrgBr'), 'SLEV')
  t.equal(textAt(inEuros, 'CdtTrfTxInf/CdtrAcct/Id/IBAN'), BERLIN)
  t.match(child(inEuros, 'CdtTrfTxInf/Amt/InstdAmt'), { text: '1250.50', attributes: { Ccy: 'EUR' } })
})

t.test('a thousand payments add up to the penny', async (t) => {
  const instructions = Array.from({ length: 1000 }, (_, index) =>
    instruction({ endToEndId: `SVC${index}`, amount: index % 2 === 0 ? '0.1000' : '9999999999999.9900' }),
  )
  const content = message([pounds(instructions)])
  t.same(await schemaErrors('pain.001.001.09', content), [])
  t.match(content, /<NbOfTxs>1000<\/NbOfTxs>\n<CtrlSum>5000000000000045\.00<\/CtrlSum>/)
})

t.test('texts are written in the characters that every bank takes', async (t) => {
  for (const [text, expected] of [
    ['Café Zürich & Søn', 'Cafe Zurich + Son'],
    ['Großmann “Łódź”', "Grossmann 'Lodz'"],
    ['</Nm><Amt>', './Nm.Amt.'],
    ['a//b/', 'a/b'],
    ['//secret', 'secret'],
    ['two\nlines\u0000\u202eevil', 'two lines evil'],
    ['ＷＩＤＥ ①', 'WIDE 1'],
    ['日本', null],
    ['...', null],
    ['', null],
    ['x'.repeat(80), 'x'.repeat(70)],
    [`${'x'.repeat(69)} y`, 'x'.repeat(69)],
    ['😀 Emoji Ltd', '. Emoji Ltd'],
  ] as const)
    t.equal(isoText(text, 70), expected, JSON.stringify(text))
})

t.test('what a name has of XML stays its text, and the message one of the schema', async (t) => {
  const name = `]]><!--"O'Neil" & <Söhne>`
  const written = isoText(name, 70) ?? ''
  for (const creditorName of [name, written]) {
    const content = message([pounds([instruction({ creditorName })])])
    t.same(await schemaErrors('pain.001.001.09', content), [])
    const [, batch] = partsOf(content)
    t.equal(batch === undefined ? undefined : textAt(batch, 'CdtTrfTxInf/Cdtr/Nm'), creditorName)
  }
})
