import { UnreadableFile, plainText, shown } from '../lib/file-text.ts'
import { allAt, child, readXml, textAt } from '../lib/read-xml.ts'
import type { Element } from '../lib/read-xml.ts'

/**
 * What a bank says of a payment: it will make it, it will not, it does not know yet, or it has had the same one before
 * and makes no second one.
 */
export type BankAnswer = 'ACCEPTED' | 'REJECTED' | 'PENDING' | 'DUPLICATE'

const ANSWERS: Readonly<Record<string, BankAnswer>> = {
  ACCC: 'ACCEPTED',
  ACCP: 'ACCEPTED',
  ACFC: 'ACCEPTED',
  ACSC: 'ACCEPTED',
  ACSP: 'ACCEPTED',
  ACTC: 'ACCEPTED',
  ACWC: 'ACCEPTED',
  ACWP: 'ACCEPTED',
  CANC: 'REJECTED',
  PART: 'PENDING',
  PATC: 'PENDING',
  PDNG: 'PENDING',
  RCVD: 'PENDING',
  RJCT: 'REJECTED',
}
/** Reasons of a rejection that concern the copy and not the payment: of the first, nothing is said. */
const DUPLICATE_REASONS: readonly string[] = ['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05']

/** One answer, and what it is about: the whole message, one of its batches, or one payment. */
export type ReportedStatus = {
  about: 'message' | 'batch' | 'payment'
  /** The id of the batch, or the end-to-end id; of the message its own. */
  id: string
  answer: BankAnswer
  /** The code of the reason by ISO 20022, such as `AC04`, and the bank's own words. */
  reason: string | null
  text: string | null
}

export type StatusReport = {
  /** The message that is answered. */
  messageId: string
  statuses: readonly ReportedStatus[]
}

/** More payments than a file of ours can have. */
const STATUSES_MAX = 50_000
/** Documents, reports, then the answers: to the group, and to each batch. */
const PART_DEPTH = 3

/**
 * Reads a pain.002 message, versions 03 to 10: what a bank answers to payments that a file asked it to make.
 * @throws {UnreadableFile}
 */
export function readPain002(content: string): StatusReport {
  let messageId: string | undefined
  const statuses: ReportedStatus[] = []
  readXml(content, PART_DEPTH, (part, path) => {
    if (path[0] !== 'Document' || path[1] !== 'CstmrPmtStsRpt')
      throw new UnreadableFile(`not a pain.002 file: the document has <${path[1] ?? part.name}>`)
    if (part.name === 'OrgnlGrpInfAndSts') {
      messageId = idOf(part, 'message', 'OrgnlMsgId')
      statuses.push(...statusOf(part, { about: 'message', id: messageId, element: 'GrpSts' }))
    }
    if (part.name === 'OrgnlPmtInfAndSts') statuses.push(...statusesOfBatch(part))
    if (statuses.length > STATUSES_MAX) throw new UnreadableFile(`the file has more than ${STATUSES_MAX} answers`)
  })
  if (messageId === undefined)
    throw new UnreadableFile('not a valid pain.002 file: it does not name the message that it answers')
  return { messageId, statuses }
}

function statusesOfBatch(part: Element): ReportedStatus[] {
  const ofBatch = statusOf(part, { about: 'batch', id: textAt(part, 'OrgnlPmtInfId') ?? '', element: 'PmtInfSts' })
  const ofPayments = allAt(part, 'TxInfAndSts').flatMap((item) => {
    if (textAt(item, 'TxSts') === undefined) return []
    const id = idOf(item, 'payment', 'OrgnlEndToEndId', 'OrgnlInstrId')
    return statusOf(item, { about: 'payment', id, element: 'TxSts' })
  })
  return [...ofBatch, ...ofPayments]
}

function idOf(part: Element, what: string, ...paths: string[]): string {
  const id = plainText(textAt(part, ...paths) ?? '', 35)
  if (id === null) throw new UnreadableFile(`an answer names no ${what}: <${paths[0]}> is missing`)
  return id
}

/** The answer of an element; none where it has no status, since another level has it then. */
function statusOf(
  part: Element,
  { about, id, element }: Pick<ReportedStatus, 'about' | 'id'> & { element: string },
): ReportedStatus[] {
  const code = textAt(part, element)
  if (code === undefined) return []
  const answer = Object.hasOwn(ANSWERS, code) ? ANSWERS[code] : undefined
  if (answer === undefined) throw new UnreadableFile(`${about} ${shown(id)}: unknown status ${shown(code)}`)
  const why = child(part, 'StsRsnInf')
  const reason = why === undefined ? undefined : textAt(why, 'Rsn/Cd', 'Rsn/Prtry')
  const text = why === undefined ? [] : allAt(why, 'AddtlInf').map((line) => line.text)
  const isCopy = answer === 'REJECTED' && reason !== undefined && DUPLICATE_REASONS.includes(reason)
  return [
    {
      about,
      id,
      answer: isCopy ? 'DUPLICATE' : answer,
      reason: plainText(reason ?? '', 35),
      text: plainText(text.join(' '), 500),
    },
  ]
}
