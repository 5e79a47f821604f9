import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { auditedService } from '../support/audit.ts'
import { actionOf, fakeAdmin, pageOf } from './admin-harness.ts'
import { refusal, runCli } from './harness.ts'

t.test('show prints one action, with what it changed line by line', async (t) => {
  const before = { kyb_status: 'PENDING', name: 'Acme', gone: ['a'] }
  const after = { kyb_status: 'APPROVED', name: 'Acme', limit: 5 }
  const admin = await fakeAdmin(t, () => ({ json: actionOf({ before, after }) }))
  const { code, stdout } = await admin.run(['audit', 'show', '7'])
  t.equal(code, 0)
  t.equal(admin.requests.at(-1)?.path, '/api/v1/admin/audit/7')
  t.match(stdout, /Action +merchant\.kyb\nTo +acme\n[^]*Who +grace@pay\.example \(OPS\)/)
  t.match(stdout, /\n\n- kyb_status: PENDING\n\+ kyb_status: APPROVED\n {2}name: Acme\n- gone: \["a"\]\n\+ limit: 5\n$/)
  t.same(JSON.parse((await admin.run(['audit', 'show', '7', '-o', 'json'])).stdout), actionOf({ before, after }))
})

t.test('an action that there is none of is exit code 6, and names the list', async (t) => {
  const admin = await fakeAdmin(t, () => refusal(404, 'AUDIT_ENTRY_NOT_FOUND'))
  const { code, stderr } = await admin.run(['audit', 'show', 'x'])
  t.equal(code, 6)
  t.match(stderr, /Try: svc .*audit list\n/)
})

t.test('list --follow begins with the last actions, the newest last, and ends with its time', async (t) => {
  const rows = ['9', '8', '7'].map((ordinal) => actionOf({ ordinal }))
  const admin = await fakeAdmin(t, () => pageOf(rows))
  const { code, stdout } = await admin.run([
    'audit',
    'list',
    '--follow',
    '--timeout',
    '50ms',
    '--limit',
    '3',
    '-o',
    'id',
  ])
  t.same([code, stdout], [0, '7\n8\n9\n'])
  t.equal(admin.requests.at(-1)?.path, '/api/v1/admin/audit?limit=3')
  const people = await admin.run(['audit', 'list', '--follow', '--timeout', '50ms'])
  t.match(
    people.stdout,
    /^ {4}7 {2}2026-11-21 09:30:00Z {2}merchant\.kyb {2}acme {2}kyb_status PENDING → APPROVED {2}grace@pay\.example \(OPS\) {2}documents checked\n/,
  )
  for (const words of [
    ['--timeout', '1s'],
    ['--follow', '--all'],
    ['--follow', '--until', '1h'],
    ['--follow', '--limit', '0'],
  ])
    t.equal((await admin.run(['audit', 'list', ...words])).code, 2, words.join(' '))
})

t.test(
  'list --follow continues with what is new, as filtered, waits for a service that is away, and ends at Ctrl+C',
  async (t) => {
    let looks = 0
    const paths: string[] = []
    const admin = await fakeAdmin(t, ({ path }) => {
      paths.push(path)
      if (path.includes('limit=10&') || path.endsWith('limit=10')) return pageOf([actionOf({ ordinal: '9' })])
      looks += 1
      if (looks === 1) return refusal(503, 'SERVICE_UNAVAILABLE')
      // The second page reaches back to what has been shown.
      if (path.includes('cursor=')) return pageOf(['10', '9'].map((ordinal) => actionOf({ ordinal })))
      if (looks > 3) setImmediate(() => process.emit('SIGINT', 'SIGINT'))
      return pageOf([actionOf({ ordinal: looks > 3 ? '12' : '11' })], 'further')
    })
    const { code, stdout, stderr } = await admin.run([
      'audit',
      'list',
      '--follow',
      '--limit',
      '10',
      '--actor',
      'grace',
      '-o',
      'jsonl',
    ])
    t.equal(code, 130)
    const seen = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).ordinal)
    t.same(seen.slice(0, 3), ['9', '10', '11'], 'each once, and in their order')
    t.ok(paths.every((path) => path.includes('actor=grace')))
    t.equal(stderr, '')
  },
)

const service = await auditedService(t)
await service.fill()
await service.seal()
const directory = t.testdir({ 'not.jsonl': '{"chain":"payment_events","row":{}}\n{"a":1}\n', 'empty.jsonl': '' })
const file = join(directory, 'audit.jsonl')

t.test('an export is one file of JSON lines that its owner alone can read, checkpoints first', async (t) => {
  const { code, stdout, stderr } = await service.svc(['audit', 'export', '--file', 'audit.jsonl'], { cwd: directory })
  t.equal(code, 0, stderr)
  t.match(stdout, /Written +\/.+audit\.jsonl\ncheckpoints +6 rows\n/)
  t.match(stderr, /svc .*audit verify --file audit\.jsonl\n/)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.same(readdirSync(directory).toSorted(), ['audit.jsonl', 'empty.jsonl', 'not.jsonl'], 'no draft is left')
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const { end } = JSON.parse(lines.pop() ?? '')
  const chains = lines.map((line) => JSON.parse(line).chain)
  t.same(
    end,
    Object.fromEntries(Object.entries(Object.groupBy(chains, String)).map(([chain, rows]) => [chain, rows?.length])),
    'the last line counts the rows',
  )
  t.same(
    [...new Set(chains)],
    [
      'checkpoints',
      'ledger_entries',
      'payout_events',
      'dispute_events',
      'refund_events',
      'payment_events',
      'operator_actions',
    ],
  )
  const piped = await service.svc(['audit', 'export'])
  t.equal(piped.stdout, readFileSync(file, 'utf8'), 'standard output gets the same')
  const one = await service.svc(['audit', 'export', '--chain', 'operator_actions'])
  const ofOne = lines.filter((line) => line.startsWith('{"chain":"operator_actions"'))
  t.equal(one.stdout, [...ofOne, '{"end":{"operator_actions":4}}', ''].join('\n'))
})

t.test('an export that fails leaves what was there, and no draft', async (t) => {
  const before = readFileSync(file, 'utf8')
  const admin = await fakeAdmin(t, ({ path }) =>
    path.includes('checkpoints')
      ? { json: { chain: 'checkpoints', data: [], has_more: false, next_cursor: null } }
      : refusal(500, 'INTERNAL_ERROR'),
  )
  t.equal((await admin.run(['audit', 'export', '--file', file, '--force'])).code, 1)
  t.equal(readFileSync(file, 'utf8'), before)
  t.same(readdirSync(directory).toSorted(), ['audit.jsonl', 'empty.jsonl', 'not.jsonl'])
  t.match(await service.svc(['audit', 'export', '--file', join(directory, 'none', 'x')]), {
    code: 2,
    stderr: /there is no folder .*none\nTry: mkdir -p/,
  })
  const asked = admin.requests.length
  const again = await admin.run(['audit', 'export', '--file', file])
  t.match(again, { code: 2, stderr: /audit\.jsonl is there already\nTry: .*--force/ })
  t.strictSame([admin.requests.length, readFileSync(file, 'utf8')], [asked, before], 'nothing was asked or written')
  t.match(await service.svc(['audit', 'export', '--file', file, '--force']), { code: 0 })
})

t.test('verify prints a head for each chain; offline it sends no request', async (t) => {
  const online = await service.svc(['audit', 'verify'])
  t.equal(online.code, 0, online.stderr)
  for (const chain of [
    'operator_actions',
    'payment_events',
    'refund_events',
    'dispute_events',
    'payout_events',
    'ledger_entries',
    'checkpoints',
  ])
    t.match(
      online.stdout,
      new RegExp(`${chain} +whole, \\d+ rows(?: \\(\\d+ not sealed yet\\))?, head \\d+:[0-9a-f]{64}\n`),
    )
  const offline = await runCli(['audit', 'verify', '--file', 'audit.jsonl'], { cwd: directory })
  t.same([offline.code, offline.stdout], [0, online.stdout], 'with no service named at all')
  const { stdout } = await service.svc(['audit', 'verify', '-o', 'id'])
  t.match(stdout, /^operator_actions:4:[0-9a-f]{64}\npayment_events:/)
  const heads = stdout
    .trimEnd()
    .split('\n')
    .flatMap((head) => ['--expect-head', head])
  t.equal((await service.svc(['audit', 'verify', ...heads])).code, 0, 'as the next run takes them')
})

t.test('verify of one chain reads that one and the checkpoints', async (t) => {
  const { stdout } = await service.svc(['audit', 'verify', '--chain', 'payment_events', '-o', 'json'])
  t.match(JSON.parse(stdout), { chains: [{ chain: 'payment_events', broken: null }, { chain: 'checkpoints' }] })
  const { stdout: seals } = await service.svc(['audit', 'verify', '--chain', 'checkpoints', '-o', 'json'])
  t.equal(JSON.parse(seals).chains.length, 1)
})

t.test('a broken chain is exit code 3, and its chain, ordinal, id, problem and next step are printed', async (t) => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const at = lines.findIndex((line) => line.includes('"ordinal":"2"') && line.includes('operator_actions","row"'))
  const { row } = JSON.parse(lines[at] ?? '')
  const edited = lines.with(at, JSON.stringify({ chain: 'operator_actions', row: { ...row, reason: 'other' } }))
  writeFileSync(join(directory, 'edited.jsonl'), edited.join('\n'))
  const { code, stdout, stderr } = await runCli(['audit', 'verify', '--file', 'edited.jsonl'], { cwd: directory })
  t.equal(code, 3)
  t.match(stdout, new RegExp(`operator_actions +BROKEN at ordinal 2 \\(${row.id}\\): changed: `))
  t.match(stdout, /payment_events +whole/, 'others are told as they are')
  t.match(stderr, /compare ordinal 2 of operator_actions with a backup[^]*svc audit export --chain operator_actions/)
  const json = await runCli(['audit', 'verify', '--file', 'edited.jsonl', '-o', 'json'], { cwd: directory })
  t.equal(json.stderr, '')
  t.match(JSON.parse(json.stdout).chains[0], {
    chain: 'operator_actions',
    rows: 1,
    head: /^1:/,
    broken: { ordinal: '2', id: row.id, problem: 'changed', detail: String },
  })
})

t.test('an export without checkpoints is verified, and says what would not be missed', async (t) => {
  const { stdout } = await service.svc(['audit', 'export', '--chain', 'payment_events'])
  writeFileSync(join(directory, 'events.jsonl'), stdout)
  const { code, stdout: said, stderr } = await runCli(['audit', 'verify', '--file', 'events.jsonl'], { cwd: directory })
  t.equal(code, 0)
  t.match(said, /^payment_events +whole, \d+ rows[^\n]*\n$/, 'of no other chain anything is said')
  t.match(
    stderr,
    /Not in events\.jsonl, and not verified: operator_actions, refund_events, dispute_events, payout_events, ledger_entries, checkpoints\./,
  )
  t.match(stderr, /\d+ rows are not sealed by a checkpoint yet.*--expect-head/s)
  const other = await runCli(['audit', 'verify', '--file', 'events.jsonl', '--chain', 'operator_actions'], {
    cwd: directory,
  })
  t.match(other, { code: 2, stdout: '', stderr: /is an export of payment_events, without operator_actions/ })
  const head = ['--expect-head', `4:${'a'.repeat(64)}`]
  t.match(await runCli(['audit', 'verify', '--file', 'events.jsonl', ...head], { cwd: directory }), { code: 2 })
})

t.test('an export comes out of a pipe as well: it is read once', async (t) => {
  const stdin = readFileSync(file, 'utf8')
  const whole = await runCli(['audit', 'verify', '--file', file])
  t.strictSame(await runCli(['audit', 'verify', '--file', '-'], { stdin }), whole)
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  const [verified] = await Promise.all([runCli(['audit', 'verify', '--file', fifo]), writeFile(fifo, stdin)])
  t.strictSame(verified, whole, 'a pipe with a name is what <(...) is')
  const named = await service.svc(['audit', 'export', '--file', '-'], { cwd: directory })
  t.equal(named.stdout, stdin, '- is standard output, and no file')
  const collected = readFile(fifo, 'utf8')
  t.match(await service.svc(['audit', 'export', '--file', fifo]), { code: 0, stderr: /audit verify --file -\n/ })
  t.equal(await collected, stdin)
  t.ok(statSync(fifo).isFIFO(), 'and was not replaced')
  rmSync(fifo)
  t.match(await runCli(['audit', 'verify', '--file', '-'], { typed: '' }), { code: 2, stderr: /nothing is piped/ })
})

t.test('an export that is not whole never verifies as whole', async (t) => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const verify = (kept: readonly string[], ...words: string[]) =>
    runCli(['audit', 'verify', '--file', '-', ...words], { stdin: `${kept.join('\n')}\n` })
  for (const kept of [[], ['', ''], ['{"end":{}}']])
    t.match(await verify(kept), { code: 2, stdout: '', stderr: /- is empty/ })
  t.match(await runCli(['audit', 'verify', '--file', 'empty.jsonl'], { cwd: directory }), { code: 2, stdout: '' })
  const cut = await verify(lines.filter((line) => !line.includes('operator_actions')))
  t.match(cut, { code: 3, stdout: /\nthe export +NOT WHOLE: its last line, which counts the rows, is missing/ })
  t.notMatch(cut.stdout, /^operator_actions/, 'of what is not there nothing is said')
  t.match(cut.stderr, /Next: svc .*audit export --file/)
  t.notMatch(cut.stderr, /superuser/, 'and nobody is accused for a file that was cut off')
  const last = lines.findLastIndex((line) => line.startsWith('{"chain":"operator_actions"'))
  const ofOne = (await service.svc(['audit', 'export', '--chain', 'operator_actions'])).stdout.trimEnd().split('\n')
  const fewer = await verify(ofOne.toSpliced(3, 1), '--json')
  t.match(fewer, { code: 3, stderr: '' })
  t.match(JSON.parse(fewer.stdout), {
    chains: [{ chain: 'operator_actions', rows: 3, broken: null }],
    incomplete: 'its last line counts 4 rows of operator_actions, and there are 3',
  })
  t.equal(JSON.parse((await verify(lines, '--json')).stdout).incomplete, null)
  t.match(await verify([...lines, lines[0] ?? '']), { code: 2, stderr: /is after the end/ })
  t.match(await verify(lines.toReversed()), { code: 2 })
  t.match(await verify([lines[last] ?? '', ...lines]), { code: 2, stderr: /comes after operator_actions/ })
})

t.test('an export that cannot be written is not reported as done', async (t) => {
  const unwritten = Object.assign(new Error('full'), { code: 'ENOSPC' })
  const full = await service.svc(['audit', 'export', '--json'], { unwritten })
  t.match(JSON.parse(full.stderr), { error: { code: 'RESULT_NOT_WRITTEN', message: /no space is left/ } })
  t.equal(full.code, 1)
  const head = await service.svc(['audit', 'export'], {
    unwritten: Object.assign(new Error('gone'), { code: 'EPIPE' }),
  })
  t.match(head, { code: 0, stderr: '' }, 'a reader that has gone is no failure')
})

t.test('an export that is interrupted leaves no draft', async (t) => {
  const admin = await fakeAdmin(t, () => {
    setImmediate(() => process.emit('SIGINT', 'SIGINT'))
    return 'silence'
  })
  const folder = t.testdir({})
  t.match(await admin.run(['audit', 'export', '--file', join(folder, 'x')]), { code: 130, stderr: /interrupted/ })
  t.same(readdirSync(folder), [])
})

t.test('what can not be verified is exit code 2, and not a broken chain', async (t) => {
  const verify = (...words: string[]) => runCli(['audit', 'verify', ...words], { cwd: directory })
  t.match(await verify('--file', 'not.jsonl'), { code: 2, stderr: /line 2 of not\.jsonl is not a row of an export/ })
  t.match(await verify('--file', 'none.jsonl'), { code: 2, stderr: /can't read none\.jsonl/ })
  t.match(await verify('--file', '.'), { code: 2, stderr: /can't read/ })
  for (const head of ['x', '4', '4:abc', 'merchants:4:' + 'a'.repeat(64), '0:' + 'a'.repeat(64)])
    t.match(await verify('--file', 'audit.jsonl', '--expect-head', head), { code: 2, stderr: /--expect-head/ }, head)
  const other = ['--chain', 'payment_events', '--expect-head', `4:${'a'.repeat(64)}`]
  t.match(await verify('--file', 'audit.jsonl', ...other), { code: 2, stderr: /operator_actions is not verified here/ })
  t.equal((await verify('--chain', 'merchants')).code, 2)
})
