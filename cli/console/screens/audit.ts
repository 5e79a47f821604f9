import { getAuditEntry, listAudit } from '../../../src/wire/audit.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import { call } from '../../client/call.ts'
import { KNOWN_ACTIONS } from '../../audit/actions.ts'
import { changedText, printOperatorAction, subjectText } from '../../audit/view.ts'
import { actorText } from '../../base/role-text.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { EMPTY_LINE, line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { AGE_WIDTH, ageOf, spanText } from '../../base/ages.ts'
import { pageOf, screen } from '../screen.ts'
import { AUDIT_CHAINS } from '../../../src/lib/audit-chain.ts'
import { CliError } from '../../base/errors.ts'
import { rowsOfService } from '../../audit/rows.ts'
import type { RowSource } from '../../audit/rows.ts'
import { reportLine, verifyAll, whatNext } from '../../audit/verify.ts'
import type { SealedReport } from '../../audit/verify.ts'
import type { Verified, Tools } from '../screen.ts'

type Mark = 'ok' | 'CHANGED' | '-'

/** Whether an action is what was verified; `-` where it was not, as what came later. */
export function markOf(
  { ordinal, action_hash: hash }: Pick<OperatorAction, 'ordinal' | 'action_hash'>,
  verified: Verified | undefined,
): Mark {
  const computed = verified?.hashes.get(ordinal)
  if (computed === undefined) return '-'
  return computed === hash ? 'ok' : 'CHANGED'
}

/**
 * Computes every hash of the trail again, as `svc audit verify` does, and shows how far it is; closing that stops it.
 * @throws {CliError} AUDIT_BROKEN, exit code 3, and whatever the service refuses
 */
export async function verify({ client, keep, watch }: Tools): Promise<string> {
  const read = new Map<string, number>()
  const hashes = new Map<string, string>()
  let reports: SealedReport[] = []
  let why: string | undefined
  const isOver = await watch('Verifying the audit trail', async ({ signal, write }) => {
    const source: RowSource = async function* pages(chain) {
      for await (const page of rowsOfService({ ...client, signal })(chain)) {
        read.set(chain, (read.get(chain) ?? 0) + page.length)
        write(Array.from(read, ([each, rows]) => `${each}: ${rows} rows read`))
        if (chain === 'operator_actions')
          for (const { ordinal, action_hash: hash } of page) hashes.set(String(ordinal), String(hash))
        yield page
      }
    }
    const nothing = (): undefined => undefined
    reports = await verifyAll(source, { chains: AUDIT_CHAINS, expected: new Map(), onPage: nothing, at: nothing })
    const broken = reports.filter((report) => report.broken !== null)
    const lines = reports.map(reportLine).map(([chain, text]) => `${chain}: ${text}`)
    why = lines.find((_, index) => reports[index]?.broken !== null)
    markBroken(hashes, reports.find(({ chain }) => chain === 'operator_actions')?.broken?.ordinal)
    keep({ verified: { at: Date.now(), hashes, broken: why } })
    return [...lines.flatMap((text) => [text, '']), ...(why === undefined ? [WHOLE] : whatNext(broken).split('\n'))]
  })
  if (!isOver) return 'stopped; nothing was verified'
  if (why === undefined) return `verified ${reports.reduce((sum, { rows }) => sum + rows, 0)} rows: whole`
  throw new CliError('AUDIT_BROKEN', why)
}

const WHOLE =
  'The hashes were computed on this machine. That the last rows of a chain were cut off is shown only by a head of before: svc audit verify --expect-head'

/** Rows after a broken row prove nothing, and the row itself is not what was written. */
function markBroken(hashes: Map<string, string>, broken: string | undefined): void {
  if (broken === undefined) return
  for (const ordinal of hashes.keys()) if (BigInt(ordinal) > BigInt(broken)) hashes.delete(ordinal)
  hashes.set(broken, '')
}

export const audit = screen<OperatorAction>({
  name: 'audit',
  key: '7',
  group: 'People',
  title: 'Audit',
  short: 'People',
  noun: 'action',
  reads: ['administer platform'],
  limit: 50,
  follow: true,
  list: {
    read: async ({ client, filter, page }) =>
      pageOf(
        (await call(client, listAudit, { query: { ...page, ...(filter === '' ? {} : { action: filter }) } })).body,
      ),
    isDirty: (hint) => 'of' in hint && hint.of.includes('audit'),
  },
  serviceLooksFor: 'a whole action',
  serviceFilter: (filter) => KNOWN_ACTIONS.find((known) => filter.split(/\s+/).includes(known)) ?? '',
  id: ({ ordinal }) => ordinal,
  head: (_rows, { kept, now }) => [headLine(kept.verified, now)],
  columns: ({ kept, now }) => [
    { title: 'no', value: ({ ordinal }) => ordinal, align: 'right' },
    {
      title: 'hash',
      value: (row) => markOf(row, kept.verified),
      style: (text) => (text === 'ok' ? 'green' : text === '-' ? undefined : 'red'),
    },
    { title: 'age', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH },
    { title: 'action', value: ({ action }) => action },
    { title: 'to', value: subjectText, least: 8 },
    { title: 'who', value: actorText, short: withoutRole, least: 8 },
    { title: 'changed', value: changedText, least: 10, dropped: 2 },
    { title: 'why', value: ({ reason }) => reason ?? '', least: 10, dropped: 1 },
    { title: 'time', value: (row) => shortTime(row.created_at), short: minuteOf, onlyWide: true },
    { title: 'subject', value: (row) => row.subject_id, onlyWide: true },
    { title: 'computed', value: (row) => row.action_hash, onlyWide: true },
  ],
  empty: 'No operator has done anything yet.',
  detail: {
    title: (row) => `${row.ordinal} ${row.action}`,
    read: async ({ client, arg: ordinal }) => (await call(client, getAuditEntry, { params: { ordinal } })).body,
    // What was written is not written again.
    isDirty: () => false,
    above: ({ row }, { kept }) => [markLine(markOf(row, kept.verified)), EMPTY_LINE],
    print: (context, { row }) => printOperatorAction(context, row),
  },
  keys: [
    {
      key: 'f',
      label: 'follow',
      on: 'list',
      needs: 'nothing',
      command: () => 'svc audit list --follow',
      async run(_row, _given, { follow, say }) {
        say(follow() ? 'follows the newest' : 'stays where it is: new rows are above; f follows again')
        return undefined
      },
    },
    {
      key: 'v',
      label: 'verify',
      needs: 'nothing',
      command: () => 'svc audit verify',
      run: (_row, _given, tools) => verify(tools),
    },
  ],
})

function withoutRole(who: string): string {
  return who.replace(/ \(\w+\)$/, '')
}

/** Whether the hashes were computed here, and what came of it. */
export function headLine(verified: Verified | undefined, now: number): Line {
  if (verified === undefined)
    return line(' Hashes: not verified; v reads the whole trail and computes them here', 'dim')
  const when = `${spanText(now - verified.at)} ago`
  if (verified.broken !== undefined)
    return [{ text: ' Hashes: BROKEN', tone: 'bad' }, { text: `, found ${when}: ${verified.broken}` }]
  return [
    { text: ' Hashes: ', tone: 'dim' },
    { text: 'whole', tone: 'good' },
    { text: ` when verified ${when}`, tone: 'dim' },
  ]
}

function markLine(mark: ReturnType<typeof markOf>): Line {
  if (mark === 'ok') return line('Hash ok: computed here, and what follows it agrees', 'good')
  return mark === '-' ? line('Hash not verified; v does', 'dim') : line('Hash CHANGED since it was verified', 'bad')
}
