import type { App } from '../../src/app.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { createPayoutFile } from '../../src/payout-files/create-payout-file.ts'
import { allAt, readXml, textAt } from '../../src/lib/read-xml.ts'
import type { Element } from '../../src/lib/read-xml.ts'
import { britishFile } from './bank-files.ts'
import type { SampleLine } from './bank-files.ts'

/*
 * A bank that is brought instruction files: it reads pain.001 by its own eyes, and writes its answer and its statement.
 */

export type Instructed = { endToEndId: string; amount: string; currency: string; name: string; account: string }

export type ReadFile = { messageId: string; count: string; sum: string; payments: Instructed[] }

export function readInstructions(content: string): ReadFile {
  const file: ReadFile = { messageId: '', count: '', sum: '', payments: [] }
  readXml(content, 3, (part) => {
    if (part.name === 'GrpHdr')
      Object.assign(file, {
        messageId: textAt(part, 'MsgId'),
        count: textAt(part, 'NbOfTxs'),
        sum: textAt(part, 'CtrlSum'),
      })
    file.payments.push(...allAt(part, 'CdtTrfTxInf').map(paymentOf))
  })
  return file
}

function paymentOf(item: Element): Instructed {
  const [amount] = allAt(item, 'Amt/InstdAmt')
  return {
    endToEndId: textAt(item, 'PmtId/EndToEndId') ?? '',
    amount: amount?.text ?? '',
    currency: amount?.attributes.Ccy ?? '',
    name: textAt(item, 'Cdtr/Nm') ?? '',
    account: `${textAt(item, 'CdtrAgt/FinInstnId/ClrSysMmbId/MmbId') ?? ''}${textAt(item, 'CdtrAcct/Id/IBAN', 'CdtrAcct/Id/Othr/Id') ?? ''}`,
  }
}

/** pain.002 in version 10: each payment has its status, with a reason where one is given after a blank (`RJCT AC04`). */
export function answerTo(messageId: string, statuses: Readonly<Record<string, string>>, group = ''): string {
  const items = Object.entries(statuses).map(([id, status]) => {
    const [code, reason] = status.split(' ')
    const why = reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`
    return `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${code}</TxSts>${why}</TxInfAndSts>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
    <GrpHdr><MsgId>B1</MsgId><CreDtTm>2026-11-23T08:00:00Z</CreDtTm></GrpHdr>
    <OrgnlGrpInfAndSts><OrgnlMsgId>${messageId}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}</OrgnlGrpInfAndSts>
    <OrgnlPmtInfAndSts><OrgnlPmtInfId>${messageId}GBP</OrgnlPmtInfId>${items.join('')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
}

/** The account 20-00-00 12345678, from which the tests' files pay, as statements name it. */
export const PAYING_IBAN = 'GB83BUKB20000012345678'

/** camt.053 of that account with a debit for each of these payments. */
export function statementOf(payments: readonly Instructed[], more: readonly SampleLine[] = []): string {
  statementCount += 1
  const id = `PAID-${statementCount}`
  const debits = payments.map(({ amount, endToEndId }, index) => ({
    amount,
    e2e: endToEndId,
    direction: 'DBIT' as const,
    ref: `${id}-${index}`,
  }))
  return britishFile([...debits, ...more], { id, account: PAYING_IBAN })
}
let statementCount = 0

/** The app of a service whose payouts go by file. */
export function byFile(app: App): App {
  const payoutAccounts = new Map([['GBP', '20000012345678']])
  return { ...app, config: { ...app.config, payoutConnector: 'file', payoutAccounts } }
}

/** Creates the payouts that are due, and writes them into a file. */
export async function exportByFile(app: App): Promise<ReadFile> {
  await createPayouts(byFile(app))
  const { file } = await createPayoutFile(byFile(app), { actor: { id: 'test', name: 'test', role: 'OWNER' } })
  return readInstructions(file?.content ?? '')
}
