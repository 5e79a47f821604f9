import { html } from '../lib/html.ts'
import type { Html } from '../lib/html.ts'
import { formatNumeric, formatSum } from '../lib/money.ts'

export type Instruction = {
  endToEndId: string
  /** numeric(19,4) text, without digits below the minor unit of the batch's currency. */
  amount: string
  creditorName: string
  /** An IBAN, or the 14 digits of a sort code and an account number, as each account here. */
  creditorAccount: string
  remittance: string
}

/** The payments of one currency, from one account. */
export type Batch = {
  id: string
  currency: string
  debtorAccount: string
  instructions: readonly Instruction[]
}

export type PaymentMessage = {
  /** At most 35 characters; the bank refuses the same one twice. */
  id: string
  /** An ISO 8601 time. */
  createdAt: string
  /** The day on which the bank shall pay, such as `2026-11-23`. */
  executeOn: string
  debtorName: string
  batches: readonly Batch[]
}

/**
 * Writes a pain.001.001.09 message of ISO 20022: payments that a bank shall make from our account, by Faster Payments in
 * GBP and as SEPA credit transfers in EUR. All texts must be in the message's character set (iso-text.ts).
 */
export function writePain001({ id, createdAt, executeOn, debtorName, batches }: PaymentMessage): string {
  const all = batches.flatMap(({ instructions }) => instructions)
  return html`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
<CstmrCdtTrfInitn>
<GrpHdr>
<MsgId>${id}</MsgId>
<CreDtTm>${createdAt}</CreDtTm>
${totals(all)}
<InitgPty><Nm>${debtorName}</Nm></InitgPty>
</GrpHdr>
${batches.map((batch) => batchOf(batch, { executeOn, debtorName }))}</CstmrCdtTrfInitn>
</Document>
`.html
}

/** What the bank counts and adds up again before it takes the message. */
function totals(instructions: readonly Instruction[]): Html {
  // The sum of a message is over all its currencies, so it has no digits of one of them.
  const sum = formatSum(
    instructions.map(({ amount }) => amount),
    'GBP',
  )
  return html`<NbOfTxs>${String(instructions.length)}</NbOfTxs>
<CtrlSum>${sum}</CtrlSum>`
}

function batchOf(batch: Batch, { executeOn, debtorName }: { executeOn: string; debtorName: string }): Html {
  const isSepa = batch.currency === 'EUR'
  return html`<PmtInf>
<PmtInfId>${batch.id}</PmtInfId>
<PmtMtd>TRF</PmtMtd>
<BtchBookg>false</BtchBookg>
${totals(batch.instructions)}
<PmtTpInf><SvcLvl><Cd>${isSepa ? 'SEPA' : 'URNS'}</Cd></SvcLvl></PmtTpInf>
<ReqdExctnDt><Dt>${executeOn}</Dt></ReqdExctnDt>
<Dbtr><Nm>${debtorName}</Nm></Dbtr>
<DbtrAcct>${accountOf(batch.debtorAccount)}<Ccy>${batch.currency}</Ccy></DbtrAcct>
<DbtrAgt>${bankOf(batch.debtorAccount)}</DbtrAgt>
<ChrgBr>${isSepa ? 'SLEV' : 'SHAR'}</ChrgBr>
${batch.instructions.map((instruction) => transferOf(instruction, batch.currency))}</PmtInf>
`
}

function transferOf(instruction: Instruction, currency: string): Html {
  const { endToEndId, creditorAccount } = instruction
  // The instruction's own id is the same, so that each answer of the bank has it, whichever of the two it repeats.
  return html`<CdtTrfTxInf>
<PmtId><InstrId>${endToEndId}</InstrId><EndToEndId>${endToEndId}</EndToEndId></PmtId>
<Amt><InstdAmt Ccy="${currency}">${formatNumeric(instruction.amount, currency)}</InstdAmt></Amt>
<CdtrAgt>${bankOf(creditorAccount)}</CdtrAgt>
<Cdtr><Nm>${instruction.creditorName}</Nm></Cdtr>
<CdtrAcct>${accountOf(creditorAccount)}</CdtrAcct>
<RmtInf><Ustrd>${instruction.remittance}</Ustrd></RmtInf>
</CdtTrfTxInf>
`
}

const UK_NUMBER = /^(\d{6})(\d{8})$/

function accountOf(account: string): Html {
  const [, , number] = UK_NUMBER.exec(account) ?? []
  if (number === undefined) return html`<Id><IBAN>${account}</IBAN></Id>`
  return html`<Id><Othr><Id>${number}</Id><SchmeNm><Cd>BBAN</Cd></SchmeNm></Othr></Id>`
}

/** The bank of an account: the IBAN says it; a sort code is one of the British clearing system. */
function bankOf(account: string): Html {
  const [, sortCode] = UK_NUMBER.exec(account) ?? []
  if (sortCode === undefined) return html`<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>`
  return html`<FinInstnId><ClrSysMmbId><ClrSysId><Cd>GBDSC</Cd></ClrSysId><MmbId>${sortCode}</MmbId></ClrSysMmbId></FinInstnId>`
}
