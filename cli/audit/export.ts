import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { AuditChain } from '../../src/lib/audit-chain.ts'
import type { Client } from '../client/call.ts'
import { stoppable } from '../client/interruptible.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { writeTarget } from '../kit/export-pages.ts'
import type { Write } from '../kit/export-pages.ts'
import { matching } from '../kit/read-values.ts'
import { isStillRead } from '../output/flush.ts'
import { withProgress } from '../output/progress.ts'
import type { Progress } from '../output/progress.ts'
import { STDOUT, targetFile } from '../output/target-file.ts'
import type { Target } from '../output/target-file.ts'
import { endLine, exportedLine } from './exported.ts'
import { rowsOfService } from './rows.ts'
import { CHAIN_CHOICES } from './verify.ts'

export const exporting = command({
  command: 'audit export',
  summary: 'Export the hash chains as JSON lines',
  details: `Each line is {"chain": ..., "row": {...}}, every column as the text that was hashed; "standing", beside the last event
of a payment, refund or dispute, is the status that it has itself, and "standing_gross_amount" and so on, beside the
first, are its values. Payloads of payments hold payers' names and account numbers: the file gets mode 0600, and is to be
kept like the database. Checkpoints come first. Events of the last 30 seconds are left out, for others may still be
written before them. The last line is {"end": {...}}, with how many rows of each chain there are: without it an export is
not whole.`,
  examples: [
    'svc audit export --file audit.jsonl',
    'svc audit verify --file audit.jsonl',
    'svc audit export | tee audit.jsonl | svc audit verify --file -',
    'svc audit export --chain operator_actions | gzip > actions.jsonl.gz',
  ],
  flags: {
    chain: { value: 'chain', summary: 'Export only this chain', choices: CHAIN_CHOICES, initial: 'all' },
    file: {
      value: 'file',
      summary: 'Output file with mode 0600 (- or none: standard output)',
      read: matching(/./, 'say which file'),
    },
    force: { summary: 'Overwrite an existing file' },
  },
  async run(context, input) {
    const target = targetFile(context.io.cwd, input.file, input)
    // A checkpoint that is read first seals only rows that are read after it.
    const chains: readonly AuditChain[] = input.chain === 'all' ? AUDIT_CHAINS.toReversed() : [input.chain]
    const client = context.client()
    if (target === undefined) await stoppable(client, (stopped) => toStdout(context, { client: stopped, chains }))
    else await toTarget(context, target, { client, chains })
  },
})

type Job = { client: Client; chains: readonly AuditChain[] }
type Written = { chain: AuditChain; rows: number }[]

const EXPORTING = { title: 'Exporting', unit: 'rows' }

/** Writes the lines page by page, and counts them; undefined where the reader has gone. */
async function writeLines(
  { client, chains }: Job,
  { progress, write, isRead }: { progress: Progress; write: Write; isRead(): Promise<boolean> },
): Promise<Written | undefined> {
  const source = rowsOfService(client)
  let total = 0
  const written: Written = []
  for (const chain of chains) {
    let rows = 0
    for await (const page of source(chain)) {
      await write(page.map((row) => exportedLine(chain, row)).join(''))
      if (!(await isRead())) return undefined
      rows += page.length
      total += page.length
      progress.at(total, chain)
    }
    written.push({ chain, rows })
  }
  await write(endLine(written))
  return (await isRead()) ? written : undefined
}

async function toStdout(context: Context, job: Job): Promise<void> {
  const { io, note } = context
  const written = await withProgress(context, { ...EXPORTING, isHidden: io.stdout.isTTY }, (progress) =>
    writeLines(job, { progress, write: async (text) => io.stdout.write(text), isRead: () => isStillRead(io) }),
  )
  if (written !== undefined) note(`Exported ${written.map(({ chain, rows }) => `${rows} rows of ${chain}`).join(', ')}`)
}

async function toTarget(context: Context, target: Target, job: Job): Promise<void> {
  const { named, path, isStream } = target
  const written = await withProgress(context, EXPORTING, (progress) =>
    writeTarget(target, job.client, (write, client) =>
      writeLines({ ...job, client }, { progress, write, isRead: async () => true }),
    ),
  )
  const chains = written ?? []
  context.print.record({ file: path, chains }, [
    ['Written', path],
    ...chains.map(({ chain, rows }): [string, string] => [chain, `${rows} rows`]),
  ])
  context.note(`To verify it, anywhere: svc audit verify --file ${isStream ? STDOUT : named}`)
}
