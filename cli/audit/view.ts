import { longDurationText } from '../../src/lib/duration.ts'
import type { OperatorAction } from '../../src/wire/audit.ts'
import type { Paint } from '../base/io.ts'
import { actorText } from '../base/role-text.ts'
import type { Column } from '../output/table.ts'
import { endOfId, minuteOf, printable, shortTime } from '../base/text.ts'
import type { Context } from '../kit/context.ts'

export const AUDIT_COLUMNS: readonly Column<OperatorAction>[] = [
  { title: 'ordinal', value: ({ ordinal }) => ordinal, align: 'right', dropped: 1 },
  { title: 'time', value: (row) => shortTime(row.created_at), short: minuteOf },
  { title: 'action', value: (row) => row.action },
  { title: 'to', value: subjectText, least: 12 },
  { title: 'changed', value: changedText, short: withoutName, least: 18 },
  { title: 'who', value: actorText, below: true, least: 16 },
  { title: 'why', value: (row) => row.reason ?? '', below: true, least: 16 },
]

export function subjectText({ merchant_id, realm_slug, subject_id, before, after }: OperatorAction): string {
  const realm = realm_slug ?? (merchant_id === subject_id ? subject_id : '')
  if (merchant_id === subject_id || realm === subject_id) return realm
  const email = after?.['email'] ?? before?.['email']
  const name = typeof email === 'string' ? email : endOfId(subject_id)
  // The id of a merchant's client begins with its realm.
  return realm === '' || name.startsWith(`${realm}-`) ? name : `${realm} ${name}`
}

export function changedText({ before, after, ...row }: OperatorAction): string {
  const subject = subjectText({ before, after, ...row })
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const changes = [...names].map((name) => {
    const [was, is] = [textOf(before?.[name], name), textOf(after?.[name], name)]
    if (was === is || ((was === '' || is === '') && subject.split(' ').includes(`${was}${is}`))) return ''
    const shown = name.replace(MS, '')
    if (was === '') return `${shown} ${is}`
    return is === '' ? `${shown} ${was} → -` : `${shown} ${was} → ${is}`
  })
  return changes.filter((text) => text !== '').join(', ')
}

const MS = /_ms$/

function textOf(value: unknown, name = ''): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' && MS.test(name)) return longDurationText(value) || `${value} ms`
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(' ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function withoutName(changed: string): string {
  return changed.includes(', ') ? changed : changed.replace(/^\w+ /, '')
}

export function printOperatorAction({ print }: Pick<Context, 'print'>, entry: OperatorAction): void {
  const diff = diffLines(entry, print.paint)
  print.record(
    entry,
    [
      ['Ordinal', entry.ordinal],
      ['Action', entry.action],
      ['To', subjectText(entry)],
      ['Subject', entry.subject_id],
      ['Merchant', entry.merchant_id ?? ''],
      ['Who', actorText(entry)],
      ['Their id', entry.actor_id],
      ['When', shortTime(entry.created_at)],
      ['Why', entry.reason ?? ''],
      ['Hash', entry.action_hash],
    ],
    { after: diff.join('\n') },
  )
}

function diffLines({ before, after }: Pick<OperatorAction, 'before' | 'after'>, paint: Paint): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name) => {
    const [was, is] = [lineOf(name, before), lineOf(name, after)]
    if (was === is) return [`  ${was}`]
    return [...(was === '' ? [] : [paint('red', `- ${was}`)]), ...(is === '' ? [] : [paint('green', `+ ${is}`)])]
  })
}

function lineOf(name: string, members: Readonly<Record<string, unknown>> | null): string {
  if (members === null || !Object.hasOwn(members, name)) return ''
  const value = members[name]
  return printable(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
}
