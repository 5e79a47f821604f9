import '../../support/tsx.ts'
import t from 'tap'
import type { Test } from 'tap'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import { lineWidth, plainOf } from '../../../cli/console/lines.ts'
import { detailLines } from '../../../cli/console/record-lines.ts'
import { shownScreens } from '../../../cli/console/model/allowed.ts'
import { testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Kept } from '../../../cli/console/screen.ts'
import type { Opened } from '../../support/terminal.ts'
import { whoOf } from './who.ts'

/* The audit trail in the console: plainly, and in a terminal on a real service. */

const { audit, headLine } = await import('../../../cli/console/screens/audit.ts')
const { markOf } = await import('../../../cli/console/screens/audit.ts')

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const ROW: OperatorAction = {
  ordinal: '412',
  action: 'merchant.kyb',
  actor: 'ada@svc.example',
  actor_id: 'sub-1',
  actor_role: 'OWNER',
  merchant_id: '019aa000-0000-7000-8000-000000000001',
  realm_slug: 'acme-ltd',
  subject_id: '019aa000-0000-7000-8000-000000000001',
  reason: 'documents \u001b[2J checked',
  before: { kyb_status: 'PENDING' },
  after: { kyb_status: 'APPROVED' },
  created_at: '2026-11-22T11:59:00.000Z',
  action_hash: 'a'.repeat(64),
}

t.test('the table fits 60, 80 and 140 columns, and never says ok of what was not verified', async (t) => {
  const ada = whoOf('OWNER')
  const tableIn = (width: number, kept: Kept = {}): string => {
    const laid = laidTable([ROW], audit.columns({ width, who: ada, kept, now: NOW, wide: false }), { width })
    const lines = [laid.header, laid.row(0)]
    t.ok(
      lines.every((each) => lineWidth(each) <= width),
      `${width} columns`,
    )
    return lines.map(plainOf).join('\n')
  }
  for (const width of [60, 80, 140]) {
    t.match(tableIn(width), /NO +HASH +AGE +ACTION +TO +WHO/)
    t.match(tableIn(width), /412 +- +1 min +merchant\.kyb +acme-ltd +ada/)
    t.notMatch(tableIn(width), '\u001b', 'a reason does not drive the terminal')
  }
  t.match(tableIn(140), /kyb_status PENDING → APPROVED/)
  const verified = { at: NOW - 5_000, hashes: new Map([['412', ROW.action_hash]]), broken: undefined }
  t.match(tableIn(60, { verified }), /412 +ok/)
  t.equal(
    plainOf(headLine({ at: NOW - 5_000, hashes: new Map(), broken: undefined }, NOW)),
    ' Hashes: whole when verified 5 s ago',
  )
  t.match(
    plainOf(headLine({ at: NOW, hashes: new Map(), broken: 'x: BROKEN at ordinal 3' }, NOW)),
    /BROKEN, found 0 s ago: x/,
  )
  t.match(plainOf(headLine(undefined, NOW)), /not verified/)
})

t.test('a mark is of the very hash that was computed', async (t) => {
  const verified = { at: NOW, hashes: new Map([['412', 'b'.repeat(64)]]), broken: undefined }
  t.equal(markOf(ROW, verified), 'CHANGED')
  t.equal(markOf({ ...ROW, ordinal: '413' }, verified), '-', 'what came later was not verified')
  t.equal(markOf(ROW, undefined), '-')
})

t.test('an action is shown with what was before and what is after', async (t) => {
  const layout = { width: 60, who: whoOf('OWNER'), kept: {}, now: NOW, wide: false }
  const linesOf = (row: typeof ROW): string[] =>
    detailLines(audit.detail ?? {}, { row, whole: row }, layout).map(plainOf)
  const lines = linesOf(ROW)
  t.match(lines.join('\n'), /\n- kyb_status: PENDING\n\+ kyb_status: APPROVED/)
  t.match(lines.join('\n'), /not verified; v does/)
  const none = linesOf({ ...ROW, before: null, after: null })
  t.notMatch(none.join('\n'), /kyb_status/)
})

t.test('only an OWNER has the screen; its keys are commands', async (t) => {
  t.same(shownScreens([audit], { who: whoOf('OWNER'), readonly: false, sandbox: true }), [audit])
  t.same(shownScreens([audit], { who: whoOf('OPS'), readonly: false, sandbox: true }), [])
  t.same(
    audit.keys.map(({ key, command }) => [key, command(ROW, {}, whoOf('OWNER'))]),
    [
      ['f', 'svc audit list --follow'],
      ['v', 'svc audit verify'],
    ],
  )
})

t.test('in a terminal', async (t) => {
  const service = await testService(t, { worker: true })
  const { id } = await service.merchant({ kybStatus: 'PENDING' })
  const headers = { 'x-platform-user': 'ada' }
  const act = async (payoutHeld: boolean, reason: string): Promise<void> => {
    const body = { payout_held: payoutHeld, reason }
    await service.call('PUT', `/api/v1/admin/merchants/${id}/hold`, { headers, body })
  }
  await act(true, 'odd refunds')
  await act(false, 'explained')
  const opened = (test: Test, size: { columns?: number; rows?: number } = {}): Opened =>
    openConsole(test, { url: service.url, env: { SVC_PLATFORM_USER: 'ada' }, words: ['--screen', 'audit'], ...size })

  await t.test('what is done comes in above, followed or not; it is looked at, and verified', async (t) => {
    const console = opened(t)
    await console.until(/\[Audit\] Staff  7 next  1\/2/)
    await console.until(/ fresh/)
    await console.until(/Hashes: not verified/)
    console.shot('audit-80x24')
    await act(true, 'again')
    await console.until(/\[Audit\] Staff  7 next  1\/3/)
    console.press('f')
    await console.until(/stays where it is/)
    await act(false, 'a fourth time')
    await console.until(/\[Audit\] Staff  7 next  2\/4/)
    console.press('f')
    await console.until(/\[Audit\] Staff  7 next  1\/4/)
    console.press('v')
    await console.until(/checkpoints: whole, 0 rows/)
    console.shot('audit-verified-80x24')
    console.press('esc')
    await console.until(/Hashes: whole when verified/)
    await console.until(/4 +ok/)
    await act(true, 'after it')
    const text = await console.until(/\[Audit\] Staff  7 next  1\/5/)
    t.match(text, /5 +- /, 'what came since was not verified')
    console.press('j', 'enter')
    await console.until(/Hash +[0-9a-f]{64}/)
    await console.until(/- payout_held: true\n +\+ payout_held: false/)
    console.shot('audit-entry-80x24')
    console.press('ctrl-c')
    t.match(await console.ended(), { code: 0, isPlain: true })
  })

  await t.test('a row that was changed is found, and marked', async (t) => {
    await service.owner.query('alter table operator_actions disable trigger user')
    const { rowCount } = await service.owner.query(
      "update operator_actions set reason = 'all was well' where reason = 'explained'",
    )
    t.equal(rowCount, 1)
    const console = opened(t, { columns: 140, rows: 40 })
    await console.until(/\[Audit\] Staff  7 next  1\/5/)
    console.press('v')
    await console.until(/BROKEN at ordinal 2 .*changed/)
    console.shot('audit-broken-140x40')
    // Where it is wrapped depends on what stands beside it by then.
    await console.until((text) =>
      /changed: a column, or action_hash itself, is not what was written/.test(text.replaceAll(/[│\s]+/g, ' ')),
    )
    console.press('enter')
    const text = await console.until(/Hashes: BROKEN[^]*2 +CHANGED[^]*Error: operator_actions/)
    t.match(text, /1 +ok/)
    t.match(text, /2 +CHANGED/)
    t.match(text, /3 +- /, 'what is behind it tells nothing')
    t.match(text, /Error: operator_actions: BROKEN/)
    console.resize(60, 16)
    await console.until((shown) => /Hashes: BROKEN/.test(shown) && shown.split('\n').length === 16)
    console.shot('audit-broken-60x16')
    console.press('ctrl-c')
    await console.ended()
  })
})
