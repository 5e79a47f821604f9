import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { AUDIT_CHAINS } from '../../src/lib/audit-chain.ts'
import type { AuditChain } from '../../src/lib/audit-chain.ts'
import type { Client } from '../client/call.ts'
import { stoppable } from '../client/interruptible.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { writeTarget } from '../kit/export-pages.ts'
import type { Write } from '../kit/export-pages.ts'
import { isStillRead } from '../output/flush.ts'
import { withProgress } from '../output/progress.ts'
import type { Progress } from '../output/progress.ts'
import { STDOUT, targetFile } from '../output/target-file.ts'
import type { Target } from '../output/target-file.ts'
import { endLine, exportedLine } from './exported.ts'
import { rowsOfService } from './rows.ts'
import { CHAIN_CHOICES } from './verify.ts'
import { subcommand } from '../kit/option-values.ts'

const ExportOptions = z.object({
  chain: z.enum(CHAIN_CHOICES),
  file: z.string().min(1, 'say which file').optional(),
  force: z.boolean().default(false),
})

export function addExport(audit: Command, runtime: Runtime): void {
  subcommand(audit, 'export', 'Export the hash chains as JSON lines')
    .addOption(new Option('--chain <chain>', 'Export only this chain').choices(CHAIN_CHOICES).default('all'))
    .option('--file <file>', 'Output file with mode 0600 (- or none: standard output)')
    .option('--force', 'Overwrite an existing file')
    .addHelpText('after', HELP)
    .action(action(runtime, ExportOptions, exportChains))
}

const HELP = `
Each line is {"chain": ..., "row": {...}}, every column as the text that was hashed; "standing", beside the last event
of a payment, refund or dispute, is the status that it has itself, and "standing_gross_amount" and so on, beside the
first, are its values. Payloads of payments hold payers' names and account numbers: the file gets mode 0600, and is to be
kept like the database. Checkpoints come first. Events of the last 30 seconds are left out, for others may still be
written before them. The last line is {"end": {...}}, with how many rows of each chain there are: without it an export is
not whole.

Examples:
  svc audit export --file audit.jsonl
  svc audit verify --file audit.jsonl
  svc audit export | tee audit.jsonl | svc audit verify --file -
  svc audit export --chain operator_actions | gzip > actions.jsonl.gz
`

async function exportChains(context: Context, { options }: InputOf<typeof ExportOptions>): Promise<CommandResult> {
  const target = targetFile(context.io.cwd, options.file, options)
  // A checkpoint that is read first seals only rows that are read after it.
  const chains: readonly AuditChain[] = options.chain === 'all' ? AUDIT_CHAINS.toReversed() : [options.chain]
  const client = context.client()
  if (target === undefined) await stoppable(client, (stopped) => toStdout(context, { client: stopped, chains }))
  else await toTarget(context, target, { client, chains })
}

type Job = { client: Client; chains: readonly AuditChain[] }
type Written = { chain: AuditChain; rows: number }[]

const EXPORTING = { title: 'Exporting', unit: 'rows' }

/** Hands on the lines page by page, and counts them; undefined where nobody reads on. */
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
  context.print.record({
    item: { file: path, chains },
    lines: [['Written', path], ...chains.map(({ chain, rows }): [string, string] => [chain, `${rows} rows`])],
    id: path,
  })
  context.note(`To verify it, anywhere: svc audit verify --file ${isStream ? STDOUT : named}`)
}
