import t from 'tap'
import { NO_HASH, operatorActionHash, paymentEventHash } from '../../src/lib/audit-chain.ts'
import type { AuditRow } from '../../src/lib/audit-chain.ts'
import { sha256Hex } from '../../src/lib/hmac.ts'
import { checkpointsOf, verifyChain } from '../../src/lib/verify-chain.ts'
import type { ChainReport, VerifyOptions } from '../../src/lib/verify-chain.ts'

const AT = '2026-11-21T09:30:00.000001'

function actions(ordinals: readonly string[]): AuditRow[] {
  const rows: AuditRow[] = []
  for (const ordinal of ordinals) {
    const told = { id: `a-${ordinal}`, actor_id: 'x', actor_name: 'ada', actor_role: 'OPS', action: 'merchant.kyb' }
    const rest = { merchant_id: null, subject_id: 's', reason: null, before: null, after: null, created_at: AT }
    const row = { ordinal, ...told, ...rest, prev_hash: rows.at(-1)?.['action_hash'] ?? NO_HASH }
    rows.push({ ...row, action_hash: operatorActionHash(row) })
  }
  return rows
}

/** Events of payments, in the order they are named: `a`, `b` and so on. */
function events(payments: string): AuditRow[] {
  const rows: AuditRow[] = []
  for (const [index, payment] of [...payments].entries()) {
    const before = rows.findLast((row) => row['payment_intent_id'] === payment)
    const row = {
      ordinal: String(index + 1),
      id: `e-${index}`,
      merchant_id: 'm',
      payment_intent_id: payment,
      previous_status: before === undefined ? null : 'Initiated',
      new_status: 'Initiated',
      changed_by: 'BATCH_JOB',
      raw_payload: '{}',
      raw_payload_sha256: sha256Hex('{}'),
      prev_hash: before?.['event_hash'] ?? NO_HASH,
      created_at: AT,
    }
    rows.push({ ...row, event_hash: paymentEventHash(row) })
  }
  return rows
}

function verified(
  chain: 'operator_actions' | 'payment_events',
  rows: readonly AuditRow[],
  options?: VerifyOptions,
): ChainReport {
  const verifier = verifyChain(chain, options)
  rows.every((row) => verifier.add(row))
  return verifier.end()
}

t.test('an empty chain is whole, and has no head', async (t) => {
  t.same(verified('operator_actions', []), { chain: 'operator_actions', rows: 0, head: null, broken: null })
})

t.test('gaps between ordinals, as a rollback leaves them, are not breaks', async (t) => {
  const rows = actions(['1', '3', '900719925474099312'])
  t.match(verified('operator_actions', rows), {
    rows: 3,
    broken: null,
    head: { ordinal: '900719925474099312', hash: rows[2]?.['action_hash'] },
  })
})

t.test('ordinals that do not grow, or are none, break the order', async (t) => {
  const [first = {}, second = {}] = actions(['9', '10'])
  for (const ordinal of ['9', '8', '0', '-1', '', '1e3', '09', ' 10'])
    t.match(
      verified('operator_actions', [first, { ...second, ordinal }]).broken,
      { ordinal, problem: 'ordinal order' },
      ordinal,
    )
  t.equal(verified('operator_actions', [first, second]).broken, null, 'ordinals are compared as numbers')
})

t.test('only the first broken row is reported, and the rows after it are not checked', async (t) => {
  const [first = {}, second = {}, third = {}] = actions(['1', '2', '3'])
  const verifier = verifyChain('operator_actions')
  t.ok(verifier.add(first))
  t.notOk(verifier.add({ ...second, reason: 'another' }))
  t.notOk(verifier.add({ ...third, reason: 'another' }))
  t.match(verifier.end(), { rows: 1, head: { ordinal: '1' }, broken: { ordinal: '2', id: 'a-2', problem: 'changed' } })
})

t.test('a row without its columns is a changed one', async (t) => {
  t.match(verified('operator_actions', [{ ordinal: '1' }]).broken, { id: null, problem: 'changed' })
  t.match(verified('payment_events', [{ ordinal: '1' }]).broken, { problem: 'payload changed' })
})

t.test('chains of many payments may lie between one another', async (t) => {
  const rows = events('abcabacbb')
  t.match(verified('payment_events', rows), { rows: 9, broken: null })
  for (let gone = 0; gone < 5; gone += 1)
    t.match(
      verified('payment_events', rows.toSpliced(gone, 1)).broken,
      { problem: 'row missing before it' },
      `without ${gone}: the next one of its payment misses it`,
    )
  t.equal(verified('payment_events', rows.slice(0, -1)).broken, null, 'an end that is cut off leaves no trace')
})

t.test('a last event that differs from the status of its payment is reported, after all other checks', async (t) => {
  const rows = events('aba')
  const beside = (standing: string | null) => rows.toSpliced(2, 1, { ...rows[2], standing })
  for (const standing of ['Initiated', null]) t.equal(verified('payment_events', beside(standing)).broken, null)
  const broken = { ordinal: '3', id: 'e-2', problem: 'status edited', detail: /to Initiated, .* is Settled$/ }
  t.match(verified('payment_events', beside('Settled')).broken, broken)
  const changed = rows.toSpliced(2, 1, { ...rows[2], standing: 'Settled', changed_by: 'MERCHANT_API' })
  t.match(verified('payment_events', changed).broken, { problem: 'changed' })
})

t.test('a checkpoint detects a truncated end, at any place', async (t) => {
  const rows = events('abab')
  const digest = sha256Hex(NO_HASH + rows.map((row) => row['event_hash']).join(''))
  const row = { ordinal: '1', id: 'c', chain: 'payment_events', up_to_ordinal: '4', row_count: '4', digest }
  const seals = checkpointsOf('payment_events', [row])
  t.equal(verified('payment_events', rows, { seals }).broken, null)
  t.match(verified('payment_events', rows.slice(0, -1), { seals }).broken, {
    ordinal: '4',
    id: 'c',
    problem: 'not as sealed',
    detail: /sealed 4 rows above ordinal 0 and up to 4; there are 3/,
  })
  t.match(verified('payment_events', [], { seals }).broken, { problem: 'not as sealed' }, 'all are gone')
  const others = checkpointsOf('payment_events', [{ ...row, digest: NO_HASH }])
  t.match(verified('payment_events', rows, { seals: others }).broken, { detail: /there are others now/ })
  t.same(checkpointsOf('dispute_events', [row]), [], 'a checkpoint covers its own chain alone')
})

t.test('an earlier head must be in the chain, unchanged', async (t) => {
  const rows = actions(['1', '2', '3'])
  const hash = rows[1]?.['action_hash'] ?? ''
  const withHead = (ordinal: string, told: string, of = rows) =>
    verified('operator_actions', of, { expected: { ordinal, hash: told } }).broken
  t.equal(withHead('2', hash), null)
  t.match(withHead('2', NO_HASH), { ordinal: '2', id: 'a-2', problem: 'not as before' })
  t.match(withHead('7', hash), { ordinal: '7', id: null, problem: 'not as before' }, 'the end is cut off')
  t.match(withHead('2', hash, []), { ordinal: '2', problem: 'not as before' }, 'all of it is gone')
  t.match(withHead('2', hash, actions(['1', '3'])), { ordinal: '2', problem: 'not as before' }, 'it is skipped')
})
