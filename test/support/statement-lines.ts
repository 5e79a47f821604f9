import { createPayouts } from '../../src/payouts/create-payouts.ts'
import type { Answer, TestMerchant, TestService } from './app.ts'
import { readInstructions } from './payout-bank.ts'
import type { Instructed } from './payout-bank.ts'
import { payableMerchant } from './payouts.ts'

/** A service whose payouts go by file, and whose statements are of an account that pays and one that collects. */
export const STATEMENT_ENV = {
  SVC_PAYOUT_CONNECTOR: 'file',
  SVC_PAYOUT_NAME: 'Payments Ltd',
  SVC_PAYOUT_ACCOUNTS: 'GBP=20-00-00 12345678',
  SVC_STATEMENT_ACCOUNTS: 'GB33BUKB20201555555555',
}

type Body = Answer['body']

/** A payout that a file took to the bank. */
export type SentPayout = { merchant: TestMerchant; sent: Instructed; id: string }

/** What operators do with lines of statements. */
export type StatementLines = {
  /** A request of an operator below `/api/v1/admin/`. */
  post(path: string, body?: object): Promise<Answer>
  /** Imports statements, and expects so many lines to be matched. */
  imported(content: string, matched: number): Promise<void>
  /** What reconciliation finds about statements and files. */
  differences(query?: string): Promise<Body[]>
  /** The causes of those by the bank's name of their line, which is written as LINE. */
  causes(): Promise<Record<string, string>>
  tasks(kind: string): Promise<Body[]>
  /** The id of the line with this name of the bank. */
  onlyLine(bankReference: string): Promise<string>
  resolveLine(id: string, named?: object): Promise<Answer>
  sentPayout(amount: string): Promise<SentPayout>
}

export async function statementLines(service: TestService): Promise<StatementLines> {
  const { app, owner } = service
  const headers = await service.operator('OPS')
  const post = (path: string, body?: object): Promise<Answer> =>
    service.call('POST', `/api/v1/admin/${path}`, { headers, ...(body === undefined ? {} : { body }) })
  const differences = async (query = ''): Promise<Body[]> => {
    const { body } = await service.call('GET', `/api/v1/admin/reconciliation${query}`, { headers })
    return body.differences.filter(({ kind }: { kind: string }) => /FILE|STATEMENT/.test(kind))
  }
  return {
    post,
    async imported(content, matched) {
      const { status, body, text } = await post('statements', { content })
      if (status !== 200 || body.matched_line_count !== matched) throw new Error(text)
    },
    differences,
    async causes() {
      const { rows } = await owner.query('select id, bank_reference from bank_statement_lines')
      const names = new Map(rows.map(({ id, bank_reference }) => [id, bank_reference]))
      return Object.fromEntries(
        (await differences()).map(({ kind, subject, cause }) => [
          `${kind} ${names.get(subject)}`,
          cause.replaceAll(subject, 'LINE'),
        ]),
      )
    },
    async tasks(kind) {
      const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
      return body.data.filter((each: { kind: string }) => each.kind === kind)
    },
    async onlyLine(bankReference) {
      const { rows } = await owner.query('select id from bank_statement_lines where bank_reference = $1', [
        bankReference,
      ])
      return rows[0].id
    },
    resolveLine: (id, named = {}) =>
      service.call('PUT', `/api/v1/admin/statement-lines/${id}/resolution`, {
        headers,
        body: { reason: 'found out', ...named },
      }),
    async sentPayout(amount) {
      const merchant = await payableMerchant(service, { amount: `${amount}00` })
      await createPayouts(app)
      const { body } = await post('payout-files')
      const { rows } = await owner.query('select id, end_to_end_id from payouts where merchant_id = $1', [merchant.id])
      // Payouts of other merchants may be in the file too.
      const sent = readInstructions(body.file.content).payments.find(
        ({ endToEndId }) => endToEndId === rows[0].end_to_end_id,
      )
      if (sent === undefined) throw new Error('there is no payout')
      return { merchant, sent, id: rows[0].id }
    },
  }
}
