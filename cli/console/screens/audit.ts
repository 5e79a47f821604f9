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
import { markOf, verify } from './audit-verify.ts'
import type { Verified } from './audit-verify.ts'

/** What operators did, the newest first, with whether its hashes were found whole from here. */
export const audit = screen<OperatorAction>({
  name: 'audit',
  key: '7',
  title: 'Audit',
  short: 'Audit',
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
        say(follow() ? 'follows the newest' : 'stays where it is: what comes stands above; f follows again')
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

/** Whether the hash of an action was found whole from here. */
function markLine(mark: ReturnType<typeof markOf>): Line {
  if (mark === 'ok') return line('Hash ok: computed here, and what follows it agrees', 'good')
  return mark === '-' ? line('Hash not verified; v does', 'dim') : line('Hash CHANGED since it was verified', 'bad')
}
