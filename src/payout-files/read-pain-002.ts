import { UnreadableFile, plainText, shown } from '../lib/file-text.ts'
import { allAt, readXml, textAt } from '../lib/read-xml.ts'
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
/** Reasons of a rejection that concern the copy and not the payment: nothing is said of the first. */
const DUPLICATE_REASONS: readonly string[] = ['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05']

type Level = 'message' | 'batch' | 'payment'

/** The reason of those that have none but their text. */
const NARRATIVE = 'NARR'

/** One answer, and what it is about: the whole message, one of its batches, or one payment. */
export type ReportedStatus = {
  about: Level
  /** The id of the batch, or the end-to-end id; of the message its own. */
  id: string
  answer: BankAnswer
  /** The level that has caused it: banks may give a reason there once, and reject each payment below without one. */
  causedAt: Level
  /** The code of the reason by ISO 20022, such as `AC04`, and the bank's own words. */
  reason: string | null
  text: string | null
}

export type StatusReport = {
  /** The message that is answered. */
  messageId: string
  statuses: readonly ReportedStatus[]
}

/** The same of a level that may have a reason without an answer. */
type PartialStatus = Omit<ReportedStatus, 'answer'> & { answer: BankAnswer | undefined }

/** More payments than a file of ours can have. */
const STATUSES_MAX = 50_000
/** Documents, reports, then the answers: to the group, and to each batch. */
const PART_DEPTH = 3

/**
 * Reads a pain.002 message, versions 03 to 10: what a bank answers to payments that a file asked it to make.
 * @throws {UnreadableFile}
 */
export function readPain002(content: string): StatusReport {
  let message: PartialStatus | undefined
  const statuses: PartialStatus[] = []
  readXml(content, PART_DEPTH, (part, path) => {
    if (path[0] !== 'Document' || path[1] !== 'CstmrPmtStsRpt')
      throw new UnreadableFile(`not a pain.002 file: the document has <${path[1] ?? part.name}>`)
    if (part.name === 'OrgnlGrpInfAndSts')
      message = statusOf(part, { about: 'message', id: idOf(part, 'message', 'OrgnlMsgId'), element: 'GrpSts' })
    if (part.name === 'OrgnlPmtInfAndSts') statuses.push(...statusesOfBatch(part))
    if (statuses.length > STATUSES_MAX) throw new UnreadableFile(`the file has more than ${STATUSES_MAX} answers`)
  })
  if (message === undefined)
    throw new UnreadableFile('not a valid pain.002 file: it does not name the message that it answers')
  const above = message
  return {
    messageId: message.id,
    statuses: [message, ...statuses.map((status) => below(above, status))].flatMap(({ answer, ...status }) =>
      answer === undefined ? [] : [{ ...status, answer }],
    ),
  }
}

function statusesOfBatch(part: Element): PartialStatus[] {
  const ofBatch = statusOf(part, { about: 'batch', id: textAt(part, 'OrgnlPmtInfId') ?? '', element: 'PmtInfSts' })
  const ofPayments = allAt(part, 'TxInfAndSts').flatMap((item) => {
    if (textAt(item, 'TxSts') === undefined) return []
    const id = idOf(item, 'payment', 'OrgnlEndToEndId', 'OrgnlInstrId')
    return [below(ofBatch, statusOf(item, { about: 'payment', id, element: 'TxSts' }))]
  })
  return [ofBatch, ...ofPayments]
}

/**
 * A rejection, with what the level above it says. Of what is rejected as a copy, each rejection is one of the copy. One
 * without a reason of its own is caused above where all is rejected, or where a reason is beside no status or is that of a copy:
 * of a level that is accepted, as a whole or in part, it only says that some below are rejected.
 */
function below(above: PartialStatus, status: PartialStatus): PartialStatus {
  if (status.answer !== 'REJECTED') return status
  const reason = status.reason ?? above.reason
  const text = status.text ?? above.text
  if (above.answer === 'DUPLICATE') return { ...status, answer: 'DUPLICATE', causedAt: above.causedAt, reason, text }
  const isReasonAbove = above.reason !== null && (above.answer === undefined || isCopy(above.reason))
  const isCausedAbove = status.reason === null && (isReasonAbove || above.answer === 'REJECTED')
  if (!isCausedAbove) return status
  return { ...status, answer: isCopy(reason) ? 'DUPLICATE' : 'REJECTED', causedAt: above.causedAt, reason, text }
}

function isCopy(reason: string | null): boolean {
  return reason !== null && DUPLICATE_REASONS.includes(reason)
}

function idOf(part: Element, what: string, ...paths: string[]): string {
  const id = plainText(textAt(part, ...paths) ?? '', 35)
  if (id === null) throw new UnreadableFile(`an answer names no ${what}: <${paths[0]}> is missing`)
  return id
}

/** What an element says. Of several reasons one of a copy counts, wherever it is; else the first that is more than a text. */
function statusOf(
  part: Element,
  { about, id, element }: Pick<PartialStatus, 'about' | 'id'> & { element: string },
): PartialStatus {
  const code = textAt(part, element)
  const answer = code !== undefined && Object.hasOwn(ANSWERS, code) ? ANSWERS[code] : undefined
  if (code !== undefined && answer === undefined)
    throw new UnreadableFile(`${about} ${shown(id)}: unknown status ${shown(code)}`)
  const whys = allAt(part, 'StsRsnInf')
  const reasons = whys.flatMap((why) => plainText(textAt(why, 'Rsn/Cd', 'Rsn/Prtry') ?? '', 35) ?? [])
  const reason = reasons.find(isCopy) ?? reasons.find((each) => each !== NARRATIVE) ?? reasons[0] ?? null
  const text = whys.flatMap((why) => allAt(why, 'AddtlInf').map((line) => line.text)).join(' ')
  return {
    about,
    id,
    answer: answer === 'REJECTED' && isCopy(reason) ? 'DUPLICATE' : answer,
    causedAt: about,
    reason,
    text: plainText(text, 500),
  }
}
