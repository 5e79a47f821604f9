import t from 'tap'
import { NOUN_GROUPS } from '../../cli/base/command-names.ts'
import { runCli } from './harness.ts'

t.test('the first page has the commands of every day, in five groups on 40 lines of 80 columns', async (t) => {
  const { code, stdout, stderr } = await runCli(['--help'])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  t.ok(lines.length <= 40, `${lines.length} lines`)
  t.same(
    lines.filter((line) => line.length > 80),
    [],
  )
  t.equal(NOUN_GROUPS.length, 5)
  for (const { title, nouns, more } of NOUN_GROUPS) {
    t.ok(lines.includes(`${title}:`), title)
    for (const { name, summary } of nouns)
      t.ok(lines.some((line) => line.startsWith(`  ${name} `) && line.endsWith(summary)))
    for (const { name } of more)
      t.notOk(
        lines.some((line) => line.startsWith(`  ${name} `)),
        `${name} is on the other page`,
      )
  }
  for (const words of [[], ['-h'], ['help']]) t.equal((await runCli(words)).stdout, stdout, words.join(' '))
  t.equal((await runCli(['--help', '--no-pager', '--json'])).stdout, stdout)
  t.match((await runCli(['--help'], { tty: true, env: { FORCE_COLOR: '1' } })).stdout, '\u001b[1mRun the service:')
})

t.test('summaries of the first page say what to do, in few words', (t) => {
  for (const { nouns, more } of NOUN_GROUPS)
    for (const { name, summary } of [...nouns, ...more]) {
      t.match(summary, /^[A-Z][^.;]*$/, name)
      t.ok(summary.length < 60, `${name}: ${summary.length} characters`)
    }
  t.end()
})

t.test('the page of everything has each command with its summary, in the same groups', async (t) => {
  const text = (await runCli(['help', 'all'])).stdout
  for (const { title } of NOUN_GROUPS) t.match(text, new RegExp(`^${title}$`, 'm'))
  t.match(text, /^ {2}payments list +\S/m)
  t.match(text, /^ {2}sandbox scenarios show +\S/m)
  const narrow = await runCli(['help', 'all'], { tty: true, columns: 80 })
  t.ok(narrow.stdout.split('\n').every((line) => line.length <= 80))
})

t.test('for programs it says which commands have a dry run, and which ask', async (t) => {
  const rows: { command: string; summary: string; dry_run: boolean; asks: boolean }[] = JSON.parse(
    (await runCli(['help', 'all', '--json'])).stdout,
  )
  t.ok(rows.length > 150, `${rows.length} commands`)
  for (const { command, summary } of rows) t.not(summary, '', command)
  const of = (wanted: string) => rows.find(({ command }) => command === wanted)
  t.match(of('disputes resolve'), { dry_run: true, asks: true })
  t.match(of('payments list'), { dry_run: false, asks: false })
  t.match((await runCli(['help', 'all', '-o', 'id'])).stdout, /^payments create$/m)
})
