import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validateXML } from 'xmllint-wasm'

/*
 * Files as banks send them, each in the shape that its documentation describes: a British bank with one entry a payment
 * and version 02; a Nordic one with batches of transactions below an entry and version 08; a German one that notifies
 * of each credit and writes a prefix before every name; a Dutch one with version 02, pages with interim balances, and the
 * amounts of a batch's transactions in their details.
 */

export type SampleLine = {
  amount: string
  direction?: 'CRDT' | 'DBIT'
  on?: string
  ref?: string
  e2e?: string
  text?: string
  status?: 'BOOK' | 'PDNG'
  reversal?: boolean
  /** Why it came back: `RtrInf`. */
  returned?: string
}

const TODAY = new Date().toISOString().slice(0, 10)

function element(name: string, content: string | undefined): string {
  return content === undefined ? '' : `<${name}>${content}</${name}>`
}

/** A statement of version 02: the status is a text, an entry is a payment. */
export function britishFile(lines: readonly SampleLine[], { id = 'STMT-1', account = 'GB33BUKB20201555555555' } = {}) {
  const entries = lines.map(
    (line) => `<Ntry><Amt Ccy="GBP">${line.amount}</Amt><CdtDbtInd>${line.direction ?? 'CRDT'}</CdtDbtInd>
      ${line.reversal === true ? '<RvslInd>true</RvslInd>' : ''}<Sts>${line.status ?? 'BOOK'}</Sts>
      <BookgDt><Dt>${line.on ?? TODAY}</Dt></BookgDt><ValDt><Dt>${line.on ?? TODAY}</Dt></ValDt>
      ${element('AcctSvcrRef', line.ref)}<BkTxCd/><NtryDtls><TxDtls>
      <Refs>${element('EndToEndId', line.e2e ?? 'NOTPROVIDED')}</Refs>
      ${line.text === undefined ? '' : `<RmtInf><Ustrd>${line.text}</Ustrd></RmtInf>`}
      ${line.returned === undefined ? '' : `<RtrInf><Rsn><Cd>${line.returned}</Cd></Rsn></RtrInf>`}
      </TxDtls></NtryDtls></Ntry>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>
  <GrpHdr><MsgId>M1</MsgId><CreDtTm>${TODAY}T06:00:00</CreDtTm></GrpHdr>
  <Stmt><Id>${id}</Id><CreDtTm>${TODAY}T06:00:00</CreDtTm><Acct><Id><IBAN>${account}</IBAN></Id></Acct>
  <Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="GBP">100.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Dt><Dt>${TODAY}</Dt></Dt></Bal>
  <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="GBP">250.5</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${TODAY}</Dt></Dt></Bal>
  ${entries.join('\n')}</Stmt></BkToCstmrStmt></Document>`
}

/** A statement of version 08: one entry for a batch, with the amount of each transaction below it. */
export function nordicFile(
  lines: readonly SampleLine[],
  { id = 'BATCH-1', account = 'FI2112345600000785', currency = 'EUR' } = {},
) {
  const pence = lines.reduce(
    (total, { amount, direction }) => total + Number(amount.replace('.', '')) * (direction === 'DBIT' ? -1 : 1),
    0,
  )
  const details = lines.map(
    (line) => `<TxDtls><Refs>${element('AcctSvcrRef', line.ref)}${element('EndToEndId', line.e2e)}</Refs>
      <Amt Ccy="${currency}">${line.amount}</Amt><CdtDbtInd>${line.direction ?? 'CRDT'}</CdtDbtInd>
      ${line.text === undefined ? '' : `<RmtInf><Strd><CdtrRefInf><Ref>${line.text}</Ref></CdtrRefInf></Strd></RmtInf>`}</TxDtls>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
  <GrpHdr><MsgId>M2</MsgId><CreDtTm>${TODAY}T06:00:00+02:00</CreDtTm></GrpHdr>
  <Stmt><Id>${id}</Id><Acct><Id><IBAN>${account}</IBAN></Id><Ccy>${currency}</Ccy></Acct>
  <Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">0</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${TODAY}</Dt></Dt></Bal>
  <Ntry><Amt Ccy="${currency}">${(Math.abs(pence) / 100).toFixed(2)}</Amt><CdtDbtInd>${pence < 0 ? 'DBIT' : 'CRDT'}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
  <BookgDt><DtTm>${TODAY}T03:00:00+02:00</DtTm></BookgDt><AcctSvcrRef>ENTRY-1</AcctSvcrRef><BkTxCd/>
  <NtryDtls><Btch><NbOfTxs>${lines.length}</NbOfTxs></Btch>${details.join('\n')}</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`
}

/** A notification of version 08 with a prefix before every name. */
export function germanFile(lines: readonly SampleLine[], { id = 'NOTE-1', account = 'DE89370400440532013000' } = {}) {
  const entries = lines.map(
    (line) => `<n:Ntry><n:Amt Ccy="EUR">${line.amount}</n:Amt><n:CdtDbtInd>${line.direction ?? 'CRDT'}</n:CdtDbtInd>
      <n:Sts><n:Cd>BOOK</n:Cd></n:Sts><n:BookgDt><n:Dt>${line.on ?? TODAY}</n:Dt></n:BookgDt>
      <n:AcctSvcrRef>${line.ref ?? 'R'}</n:AcctSvcrRef><n:BkTxCd/><n:NtryDtls><n:TxDtls><n:Refs><n:EndToEndId>${line.e2e ?? 'NOTPROVIDED'}</n:EndToEndId></n:Refs>
      <n:RmtInf><n:Ustrd>${line.text ?? ''}-</n:Ustrd><n:Ustrd>second part</n:Ustrd></n:RmtInf></n:TxDtls></n:NtryDtls></n:Ntry>`,
  )
  return `<?xml version="1.0"?><n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><n:BkToCstmrDbtCdtNtfctn>
  <n:GrpHdr><n:MsgId>M3</n:MsgId><n:CreDtTm>${TODAY}T06:00:00Z</n:CreDtTm></n:GrpHdr>
  <n:Ntfctn><n:Id>${id}</n:Id><n:Acct><n:Id><n:IBAN>${account}</n:IBAN></n:Id></n:Acct>${entries.join('\n')}</n:Ntfctn>
  </n:BkToCstmrDbtCdtNtfctn></n:Document>`
}

/** A statement of version 02 on two pages: one entry for all lines of a page, whose amounts are in their details. */
export function dutchFile(
  pages: readonly [readonly SampleLine[], readonly SampleLine[]],
  { id = 'PAGE', account = 'NL91ABNA0417164300' } = {},
) {
  const balance = (code: string, amount: string): string =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${TODAY}</Dt></Dt></Bal>`
  const entry = (lines: readonly SampleLine[], page: number): string => {
    const pence = lines.reduce((total, { amount }) => total + Number(amount.replace('.', '')), 0)
    const details = lines.map(
      (
        line,
      ) => `<TxDtls><Refs>${element('AcctSvcrRef', line.ref)}<InstrId>I-1</InstrId>${element('EndToEndId', line.e2e)}</Refs>
      <AmtDtls><TxAmt><Amt Ccy="EUR">${line.amount}</Amt></TxAmt></AmtDtls>
      <RltdPties><Dbtr><Nm>J. Jansen</Nm></Dbtr><DbtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></DbtrAcct></RltdPties>
      <RmtInf>${element('Ustrd', line.text)}</RmtInf></TxDtls>`,
    )
    return `<Ntry><NtryRef>${page}</NtryRef><Amt Ccy="EUR">${(pence / 100).toFixed(2)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>
      <BookgDt><Dt>${TODAY}</Dt></BookgDt><AcctSvcrRef>BATCH-${page}</AcctSvcrRef>
      <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn><Prtry><Cd>N196</Cd><Issr>BANK</Issr></Prtry></BkTxCd>
      <NtryDtls><Btch><NbOfTxs>${lines.length}</NbOfTxs></Btch>${details.join('\n')}</NtryDtls></Ntry>`
  }
  const page = (
    number: number,
    balances: string,
  ): string => `<Stmt><Id>${id}-${number}</Id><ElctrncSeqNb>${number}</ElctrncSeqNb>
    <CreDtTm>${TODAY}T06:00:00</CreDtTm><Acct><Id><IBAN>${account}</IBAN></Id><Ccy>EUR</Ccy></Acct>${balances}
    ${entry(pages[number - 1] ?? [], number)}</Stmt>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>
  <GrpHdr><MsgId>M4</MsgId><CreDtTm>${TODAY}T06:00:00</CreDtTm></GrpHdr>
  ${page(1, balance('PRCD', '1000.00') + balance('ITBD', '1012.50'))}
  ${page(2, balance('ITBD', '1012.50') + balance('CLBD', '1015.00'))}</BkToCstmrStmt></Document>`
}

/** What the official schema of the message finds wrong with a file. */
export async function schemaErrors(name: string, content: string): Promise<string[]> {
  const schema = readFileSync(join(import.meta.dirname, 'iso20022', `${name}.xsd`), 'utf8')
  const { errors } = await validateXML({ xml: { fileName: `${name}.xml`, contents: content }, schema })
  return errors.map(({ message }) => message)
}
